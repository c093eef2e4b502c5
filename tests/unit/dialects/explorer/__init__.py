"""Operations of the explorer."""
