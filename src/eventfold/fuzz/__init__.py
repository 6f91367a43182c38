"""
Random streams and messages, valid and broken: for the laws of this project and for other people's reducers.

Needs the extra `eventfold[fuzz]`.
"""
