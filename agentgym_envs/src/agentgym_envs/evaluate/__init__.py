"""Evaluation: any agent on any environment or suite, recorded episode by episode."""
