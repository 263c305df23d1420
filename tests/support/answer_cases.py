"""Answers to real tasks of the sites, by the task's name: fair ones and wrong ones, one a line."""

FIRST = {
    "admin-01-0": (  # How many orders has the customer Simone Thorne placed? 6
        """6
        Six.
        Simone Thorne has placed 6 orders.
        There are 6 orders in total.
        six (6)
        The customer Simone Thorne placed exactly six orders.
        The answer is 6, not 7.
        6 orders, 2 of them cancelled
        6 orders for $455.20 in all
        half a dozen""",
        """7
        sixty
        sixteen
        5 or 6
        6, 7
        6 and 7
        not 6
        anything but 6
        could be 6
        I assume 6
        half of 6
        twice 6
        #6
        6th
        6 km
        at least 6
        6 or more
        between 6 and 8
        e.g. 6
        five, six, seven""",
    ),
    "map-07-10": (  # How far is it by car from ... to ...? Answer like 12.5 km. 87.8
        """87.8 km
        87.8
        87.8 kilometers
        The distance is 87.8 km by car.
        87.8 km (1 h 5 min)
        It is 87.8 km, which takes 1 h 5 min.
        87,800 m
        Driving distance: 87.8km""",
        """87.8 miles
        87.8 mi
        87.8 m
        87.8 km/h
        87.9 km
        87 km
        more than 87.8 km
        87.8 km or 88.8 km
        54.6 km, 87.8 km
        87.8 minutes
        half of 87.8 km""",
    ),
    "map-32-10": (  # What is the speed limit on Mill Road in Saltwick? Answer like 60 km/h. 50
        """50 km/h
        50
        50 kph
        The speed limit on Mill Road is 50 km/h.
        fifty km/h""",
        """50 mph
        50 m/s
        50 km
        60 km/h
        under 50 km/h
        30 km/h, 50 km/h""",
    ),
    "shop-44-3": (  # What is the total of the order that I placed on Feb 8, 2025? $1,126.50
        """$1,126.50
        1126.50
        1126.5 dollars
        The total of the order of Feb 8, 2025 is $1,126.50.
        $1,126.50 for 5 items
        $1,126.50 including $4.99 shipping""",
        """$1,126.05
        €1,126.50
        1126.50 cents
        $1,126.50 plus shipping
        $1,126.50 or $1,131.49
        less than $1,126.50
        $1,126.50, 1131.49""",
    ),
    "forum-06-9": (  # When did the author of the post ... join the forum? 2023-04-19
        """Apr 19, 2023
        2023-04-19
        2023.04.19
        2023/04/19
        19-Apr-2023
        19 April 2023
        19/04/2023
        04/19/2023
        the 19th of April 2023
        Wednesday, April 19, 2023
        The author joined the forum on Apr 19, 2023.
        Apr 19, 2023 at 12:00""",
        """Apr 20, 2023
        Apr 19
        April 2023
        Apr 19, 2023 or Apr 20, 2023
        Apr 19, 2023, Apr 20, 2023
        before Apr 19, 2023
        the day after 2023-04-19
        by Apr 19, 2023 at the latest
        not Apr 19, 2023
        Apr 19, 2023 to May 3
        between Apr 19, 2023 and May 3, 2023""",
    ),
    "admin-12-0": (  # In which month from 2025-07-01 to 2026-01-27 were sales the highest? 2025-08
        """2025-08
        08/2025
        8/2025
        August 2025
        Aug 2025
        Sales were the highest in August 2025.
        August of 2025, with $105,000""",
        """2025-09
        08/2026
        August 2024
        July or August 2025
        August 2025, September 2025
        not August 2025
        before August 2025""",
    ),
    "map-04-0": (  # When does the Little Marrow Maritime Museum close? 18:00
        """18:00
        6 pm
        6:00 p.m.
        18h00
        It closes at 18:00.
        At 6 o'clock pm
        18:00 on weekdays""",
        """18:00 am
        6 am
        17:00
        17:00 or 18:00
        17:00, 18:00
        after 18:00
        about 18:00
        18:30""",
    ),
    "map-09-0": (  # How long does it take by bike from ... to ...? 104 min
        """1 h 44 min
        104 min
        1 hour and 44 minutes
        1:44 h
        It takes 1 h 44 min by bike.
        1 h 44 min (30.2 km)
        an hour and 44 minutes""",
        """1 h 45 min
        44 min
        104 h
        104 seconds
        104 km
        more than 1 h 44 min
        1 h 44 min or 1 h 50 min
        1 h 44 min, 1 h 45 min""",
    ),
    "admin-06-4": (  # Which SKUs does order #1858 contain? KE-7972 CY-5529
        """KE-7972, CY-5529
        CY-5529 and KE-7972
        The order contains KE-7972 and CY-5529.
        KE-7972 (2 pieces) and CY-5529 (1 piece)
        KE-7972 and CY-5529, no others""",
        """KE-7972
        KE-7972, CY-5529, CO-1357
        KE-7972 or CY-5529
        no KE-7972, no CY-5529
        neither KE-7972 nor CY-5529
        KE-7972, CY-5529 and others
        KE-7972, CY-5528""",
    ),
    "admin-03-4": (  # What is the telephone number of the customer Tilda Keller? 555-0132
        """555-0132
        (555) 0132
        Her telephone number is 555-0132.
        Tilda Keller: 555-0132""",
        """555-0133
        555-0132 or 555-0133
        not 555-0132
        555-0132, 555-0133, 555-0134""",
    ),
    "admin-05-0": (  # Who placed order #3593? Esme Ibarra
        """Esme Ibarra
        Esme Ibarra placed it.
        Order #3593 was placed by Esme Ibarra.
        Ibarra, Esme
        The customer is Esme Ibarra (esme@example.com).
        It was Esme Ibarra on Jan 3, 2025.
        Esme Ibarra, not Wanda Novak
        Esme Ibarra. She lives in Tucson or nearby.""",
        """Wanda Novak
        Esme
        anyone but Esme Ibarra
        Esme Ibarra's sister
        the sister of Esme Ibarra
        Esme Ibarra or Wanda Novak
        Esme Ibarra, Wanda Novak
        John Doe and Esme Ibarra
        Esme Ibarra and others
        Esme Ibarra did not place it
        no idea, Esme Ibarra
        someone like Esme Ibarra""",
    ),
    "shop-38-9": (  # Of the products of the type Shelf Unit by Linden House, ... lightest?
        """Linden House Corner Shelf Unit
        The Corner Shelf Unit
        The Corner Shelf Unit is the lightest.
        Corner Shelf Unit by Linden House
        Linden House's Corner Shelf Unit
        The Linden House Corner Shelf Unit at 12.3 kg""",
        """Shelf Unit
        Linden House Shelf Unit
        the heaviest is the Linden House Corner Shelf Unit
        the second lightest is the Linden House Corner Shelf Unit
        Corner, Oak, Walnut
        Linden House Corner Shelf Unit and others
        every shelf unit except the Corner Shelf Unit""",
    ),
    "map-16-3": (  # Which cafe in Saltwick has the best rating? The Copper Kettle, Saltwick
        """The Copper Kettle, Saltwick
        The Copper Kettle
        Copper Kettle in Saltwick
        The Copper Kettle (Saltwick) has the best rating.""",
        """The Copper Kettle, Haverby
        Copper Kettle Haverby
        A cafe in Saltwick
        The Copper Kettle, Café Station
        not the Copper Kettle""",
    ),
    "map-17-5": (  # At which address in Wexcombe is the museum ...? 73 Quay Street
        """73 Quay Street
        73 Quay St.
        73 Quay Street, Wexcombe
        It is at 73 Quay Street in Wexcombe.
        Quay Street 73""",
        """Quay Street
        173 Quay Street
        73 Quay Road
        73 Quay Street or 12 High Street
        next to 73 Quay Street""",
    ),
    "shop-11-7": (  # Which is heavier, the Casa Lume Sand-Glazed Water Glass or the ... Indigo ...?
        """Casa Lume Indigo Water Glass
        Indigo Water Glass
        The Indigo one
        The Indigo one is heavier than the Sand-Glazed one.
        The Casa Lume Indigo Water Glass; the other is lighter
        The Sand-Glazed Water Glass is lighter than the Indigo Water Glass.
        The Casa Lume Indigo Water Glass outweighs the Casa Lume Sand-Glazed Water Glass
        the latter""",
        """Casa Lume Sand-Glazed Water Glass
        Casa Lume Indigo Water Glass weighs less
        the Casa Lume Indigo Water Glass is less heavy
        The Casa Lume Indigo Water Glass is not heavier
        both
        They are equal: Casa Lume Indigo Water Glass
        Indigo, Sand-Glazed
        the former
        Casa Lume Water Glass
        The Sand-Glazed one is heavier than the Indigo one""",
    ),
    "forum-51-6": (  # Which community has more members, c/music or c/bread? bread
        """c/bread
        bread
        c/bread has more members than c/music.
        c/music has fewer members than c/bread
        Bread. Music has fewer members.
        c/bread (2,000 members), c/music has fewer
        c/bread > c/music""",
        """c/music
        c/bread has fewer members
        c/bread < c/music
        c/bread is beaten by c/music
        c/bread and c/music
        equally many (bread)""",
    ),
    "forum-09-7": (  # What is the title of the oldest post in c/gardening?
        """Seed trays for little money?
        “Seed trays for little money”
        The oldest post is 'Seed trays for little money?' by vera_maker""",
        """Seed trays
        the newest post is “Seed trays for little money?”
        not “Seed trays for little money?”""",
    ),
    "code-13-6": (  # What role does Clara Quill have in barnacle? Developer
        """Developer
        She is a developer.
        Clara Quill has the role Developer.
        Developer, not owner""",
        """Owner
        no longer a developer
        developer and maintainer
        developer or guest
        guest, developer, owner""",
    ),
    "map-05-0": (  # What are the coordinates of the Upper Tarn Museum of Local History?
        """44.3317, -71.2241
        (44.3317, -71.2241)
        44.3317° N, 71.2241° W
        latitude 44.3317 and longitude -71.2241""",
        """-71.2241, 44.3317
        44.3317
        44.3317, 71.2241
        not 44.3317, -71.2241""",
    ),
    "shop-28-2": (  # How much does the Casa Lume King Pruner cost? N/A
        """N/A
        It's N/A
        N/A - the search shows 0 results
        N/A. This product does not exist in the shop.
        The shop has no such product: N/A
        N/A, the shop has 12 pruners by Casa Lume, none called King""",
        """$12
        not N/A
        N/A or $12
        N/A, it costs a lot
        N/A. It costs twelve dollars.
        There is no such product""",
    ),
    "code-55-8": (  # Who owns the C project that was created on Mar 3, 2023? N/A
        """N/A
        N/A, there is no C project created on that day
        The answer is N/A.""",
        """N/A; the owner is Amir Winslow
        N/A, Amir Winslow
        N/A. Amir Winslow owns it.
        Amir Winslow""",
    ),
}
"""Written from the tasks alone."""
