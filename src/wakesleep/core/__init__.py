"""The paper for any domain: model, memory, objectives, algorithms, the loop, evaluation."""
