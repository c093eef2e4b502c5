"""What the native dialect costs an agent and what it gives it: tokens, evidence, scripted tasks, briefs."""
