"""The shop's catalogue.

Each category has a department, kinds of product, variants, and a range of prices in dollars.
"""

DEPARTMENTS = {
    "Kitchen": ("Cookware", "Coffee & Tea", "Tableware"),
    "Outdoor": ("Camping", "Cycling", "Garden Tools"),
    "Home": ("Lighting", "Bedding", "Storage"),
    "Electronics": ("Headphones", "Keyboards", "Chargers"),
}
BRANDS = {
    "Kitchen": ("Northfold", "Casa Lume", "Ember & Oak", "Potter's Row", "Harth", "Bluebell"),
    "Outdoor": ("Ridgeway", "Fernhill", "Kestrel", "Longtrail", "Tarn & Fell", "Osier"),
    "Home": ("Linden House", "Hushwood", "Casa Lume", "Marlow", "Oxbow", "Fable & Wren"),
    "Electronics": ("Volta", "Pinwheel", "Aerisonic", "Kestrel", "Lumeon", "Tern Audio"),
}
KINDS = {
    "Cookware": (("Saucepan", "Skillet", "Stock Pot", "Griddle", "Dutch Oven", "Wok"), ("8-inch", "10-inch", "12-inch", "Cast Iron", "Copper"), 24, 189),
    "Coffee & Tea": (("Kettle", "French Press", "Pour-Over Set", "Hand Grinder", "Teapot", "Milk Frother"), ("Glass", "Steel", "Matte Black", "Travel", "Two-Cup"), 14, 139),
    "Tableware": (("Dinner Plate", "Soup Bowl", "Serving Platter", "Mug", "Water Glass", "Salad Bowl"), ("Stoneware", "Speckled", "Indigo", "Set of 4", "Set of 6"), 9, 96),
    "Camping": (("Tent", "Sleeping Bag", "Camp Stove", "Lantern", "Hammock", "Cooler"), ("Ultralight", "Two-Person", "Four-Season", "Compact", "Family"), 29, 389),
    "Cycling": (("Helmet", "Saddle Bag", "Floor Pump", "Lock", "Front Light", "Gloves"), ("Commuter", "Trail", "Reflective", "Carbon", "Junior"), 12, 149),
    "Garden Tools": (("Pruner", "Trowel", "Watering Can", "Hand Rake", "Hose Reel", "Loppers"), ("Ash Handle", "Steel", "Bypass", "Long Reach", "Compact"), 8, 79),
    "Lighting": (("Floor Lamp", "Table Lamp", "Pendant", "Desk Lamp", "Wall Sconce", "String Lights"), ("Brass", "Linen", "Smoked Glass", "Dimmable", "Walnut"), 19, 249),
    "Bedding": (("Duvet Cover", "Pillow", "Sheet Set", "Wool Blanket", "Quilt", "Mattress Topper"), ("Queen", "King", "Twin", "Organic Cotton", "Flannel"), 22, 219),
    "Storage": (("Basket", "Shelf Unit", "Shoe Rack", "Storage Bench", "Wall Hooks", "Bookcase"), ("Oak", "Rattan", "Three-Tier", "White", "Folding"), 11, 259),
    "Headphones": (("Earbuds", "Headphones", "Headset", "Sport Earphones", "Studio Monitors", "Earphone Case"), ("Wireless", "Noise-Cancelling", "Open-Back", "USB-C", "Mini"), 15, 299),
    "Keyboards": (("Keyboard", "Number Pad", "Wrist Rest", "Keycap Set", "Trackpad", "Desk Mat"), ("Mechanical", "Low-Profile", "Bluetooth", "Split", "Quiet"), 13, 179),
    "Chargers": (("Wall Charger", "Power Bank", "Charging Stand", "Cable", "Car Charger", "Hub"), ("20 W", "65 W", "100 W", "Foldable", "Braided"), 7, 119),
}  # fmt: skip
MORE = {
    "Cookware": ("6-inch", "14-inch", "Enameled", "Nonstick", "Titanium", "Aluminum", "Hammered", "Camp", "Induction", "Heritage"),
    "Coffee & Tea": ("Copper", "Porcelain", "Enameled", "Family", "Barista", "Insulated", "Bamboo", "Ceramic", "Bistro", "One-Cup"),
    "Tableware": ("Ribbed", "Crackled", "Set of 2", "Set of 8", "Sand-Glazed", "Scalloped", "Nursery", "Bistro", "Heritage", "Shallow"),
    "Camping": ("Insulated", "Trekking", "Trailside", "Festival", "One-Person", "Winter", "Desert", "Expedition", "Weekend", "Youth"),
    "Cycling": ("Touring", "Urban", "Gravel", "Winter", "Race", "Compact", "Heritage", "Rainproof", "Summer", "Child"),
    "Garden Tools": ("Bronze", "Telescopic", "Heritage", "Orchard", "Rosarian", "Copper", "Balcony", "Folding", "Heavy-Duty", "Ergonomic"),
    "Lighting": ("Opal Glass", "Rattan", "Paper", "Copper", "Ceramic", "Arched", "Nordic", "Cordless", "Black", "Art Deco"),
    "Bedding": ("Crib", "California King", "Percale", "Velvet", "Linen", "Striped", "Summer", "Winter", "Washed", "Bamboo"),
    "Storage": ("Walnut", "Wicker", "Bamboo", "Four-Tier", "Black", "Slim", "Corner", "Rolling", "Stackable", "Heritage"),
    "Headphones": ("Bluetooth", "Reference", "Foldable", "Everyday", "Travel", "Junior", "Bass", "Gaming", "Hi-Fi", "Bone-Conduction"),
    "Keyboards": ("Wireless", "Backlit", "Walnut", "Compact", "Tenkeyless", "Ergonomic", "Slim", "Gaming", "Silent", "Travel"),
    "Chargers": ("15 W", "30 W", "45 W", "140 W", "Magnetic", "Solar", "Slim", "Travel", "Desktop", "Dual"),
}  # fmt: skip
"""Further variants of each category, combined with its kinds."""
COLOURS = ("Sage", "Charcoal", "Ivory", "Navy", "Rust", "Sand")
SHIPPING = (
    ("standard", "Standard, 5–7 days", 495),
    ("express", "Express, 2 days", 1295),
    ("pickup", "Store pickup", 0),
)
STATUSES = ("Processing", "Shipped", "Delivered", "Cancelled", "Returned")
# Topics of reviews.
PRAISE = ("Better than I hoped", "Daily companion", "Great value", "Lovely finish", "Perfect gift")
MIXED = ("Good, with one flaw", "Fine for the price", "Smaller than expected", "Slow delivery")
BLAME = ("Broke within a month", "Not as pictured", "Poor packaging", "Would not recommend")
