"""The parts of the house one by one, each beside the one it is named after."""
