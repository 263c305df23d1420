"""ScienceWorld: experiments of elementary-school science."""
