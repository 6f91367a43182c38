"""Reports: findings and messages, written for people and for programs."""
