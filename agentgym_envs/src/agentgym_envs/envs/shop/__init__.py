"""A shop of 10,800 products, after WebShop: buy what an instruction asks for."""
