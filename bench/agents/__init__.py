"""What the native dialect costs an agent and what it gives: tokens, evidence within a budget, scripted tasks, briefs."""
