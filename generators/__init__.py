"""What codegen.py is made of. The data flows one way: files -> contract -> views and tables -> a module for each target."""
