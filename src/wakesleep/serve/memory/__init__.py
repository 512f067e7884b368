"""The page of memories: runs while they learn, or afterwards."""
