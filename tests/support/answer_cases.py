"""Answers to real tasks of the sites, by the task's name: fair ones, then wrong ones.

A bar separates two answers. A comment has the task's question and its right answer.
"""

FIRST = {
    "admin-01-0": (  # How many orders has the customer Simone Thorne placed? 6
        """6 | Six. | Simone Thorne has placed 6 orders. | There are 6 orders in total. | six (6) |
        The customer Simone Thorne placed exactly six orders. | The answer is 6, not 7. |
        6 orders, 2 of them cancelled | 6 orders for $455.20 in all | half a dozen""",
        """7 | sixty | sixteen | 5 or 6 | 6, 7 | 6 and 7 | not 6 | anything but 6 | could be 6 |
        I assume 6 | half of 6 | twice 6 | #6 | 6th | 6 km | at least 6 | 6 or more |
        between 6 and 8 | e.g. 6 | five, six, seven""",
    ),
    "map-07-10": (  # How far is it by car from ... to ...? Answer like 12.5 km. 87.8
        """87.8 km | 87.8 | 87.8 kilometers | The distance is 87.8 km by car. |
        87.8 km (1 h 5 min) | It is 87.8 km, which takes 1 h 5 min. | 87,800 m |
        Driving distance: 87.8km""",
        """87.8 miles | 87.8 mi | 87.8 m | 87.8 km/h | 87.9 km | 87 km | more than 87.8 km |
        87.8 km or 88.8 km | 54.6 km, 87.8 km | 87.8 minutes | half of 87.8 km""",
    ),
    "map-32-10": (  # What is the speed limit on Mill Road in Saltwick? Answer like 60 km/h. 50
        """50 km/h | 50 | 50 kph | The speed limit on Mill Road is 50 km/h. | fifty km/h""",
        """50 mph | 50 m/s | 50 km | 60 km/h | under 50 km/h | 30 km/h, 50 km/h""",
    ),
    "shop-44-3": (  # What is the total of the order that I placed on Feb 8, 2025? $1,126.50
        """$1,126.50 | 1126.50 | 1126.5 dollars |
        The total of the order of Feb 8, 2025 is $1,126.50. | $1,126.50 for 5 items |
        $1,126.50 including $4.99 shipping""",
        """$1,126.05 | €1,126.50 | 1126.50 cents | $1,126.50 plus shipping |
        $1,126.50 or $1,131.49 | less than $1,126.50 | $1,126.50, 1131.49""",
    ),
    "forum-06-9": (  # When did the author of the post ... join the forum? 2023-04-19
        """Apr 19, 2023 | 2023-04-19 | 2023.04.19 | 2023/04/19 | 19-Apr-2023 | 19 April 2023 |
        19/04/2023 | 04/19/2023 | the 19th of April 2023 | Wednesday, April 19, 2023 |
        The author joined the forum on Apr 19, 2023. | Apr 19, 2023 at 12:00""",
        """Apr 20, 2023 | Apr 19 | April 2023 | Apr 19, 2023 or Apr 20, 2023 |
        Apr 19, 2023, Apr 20, 2023 | Apr 19, 2023 and Apr 20, 2023 | before Apr 19, 2023 |
        the day after 2023-04-19 | by Apr 19, 2023 at the latest | not Apr 19, 2023 |
        Apr 19, 2023 to May 3 | between Apr 19, 2023 and May 3, 2023""",
    ),
    "admin-12-0": (  # In which month from 2025-07-01 to 2026-01-27 were sales the highest? 2025-08
        """2025-08 | 08/2025 | 8/2025 | August 2025 | Aug 2025 |
        Sales were the highest in August 2025. | August of 2025, with $105,000""",
        """2025-09 | 08/2026 | August 2024 | July or August 2025 | August 2025, September 2025 |
        not August 2025 | before August 2025""",
    ),
    "map-04-0": (  # When does the Little Marrow Maritime Museum close? 18:00
        """18:00 | 6 pm | 6:00 p.m. | 18h00 | It closes at 18:00. | At 6 o'clock pm |
        18:00 on weekdays""",
        """18:00 am | 6 am | 17:00 | 17:00 or 18:00 | 17:00, 18:00 | after 18:00 | about 18:00 |
        18:30""",
    ),
    "map-09-0": (  # How long does it take by bike from ... to ...? 104 min
        """1 h 44 min | 104 min | 1 hour and 44 minutes | 1:44 h | It takes 1 h 44 min by bike. |
        1 h 44 min (30.2 km) | an hour and 44 minutes""",
        """1 h 45 min | 44 min | 104 h | 104 seconds | 104 km | more than 1 h 44 min |
        1 h 44 min or 1 h 50 min | 1 h 44 min, 1 h 45 min""",
    ),
    "admin-06-4": (  # Which SKUs does order #1858 contain? KE-7972 CY-5529
        """KE-7972, CY-5529 | CY-5529 and KE-7972 | The order contains KE-7972 and CY-5529. |
        KE-7972 (2 pieces) and CY-5529 (1 piece) | KE-7972 and CY-5529, no others""",
        """KE-7972 | KE-7972, CY-5529, CO-1357 | KE-7972 or CY-5529 | no KE-7972, no CY-5529 |
        neither KE-7972 nor CY-5529 | KE-7972, CY-5529 and others | KE-7972, CY-5528""",
    ),
    "admin-03-4": (  # What is the telephone number of the customer Tilda Keller? 555-0132
        """555-0132 | (555) 0132 | Her telephone number is 555-0132. | Tilda Keller: 555-0132""",
        """555-0133 | 555-0132 or 555-0133 | not 555-0132 | 555-0132, 555-0133, 555-0134""",
    ),
    "admin-05-0": (  # Who placed order #3593? Esme Ibarra
        """Esme Ibarra | Esme Ibarra placed it. | Order #3593 was placed by Esme Ibarra. |
        Ibarra, Esme | The customer is Esme Ibarra (esme@example.com). |
        It was Esme Ibarra on Jan 3, 2025. | Esme Ibarra, not Wanda Novak |
        Esme Ibarra. She lives in Tucson or nearby.""",
        """Wanda Novak | Esme | anyone but Esme Ibarra | Esme Ibarra's sister |
        the sister of Esme Ibarra | Esme Ibarra or Wanda Novak | Esme Ibarra, Wanda Novak |
        John Doe and Esme Ibarra | Esme Ibarra and others | Esme Ibarra did not place it |
        no idea, Esme Ibarra | someone like Esme Ibarra""",
    ),
    "shop-38-9": (  # Of the products of the type Shelf Unit by Linden House, ... lightest?
        """Linden House Corner Shelf Unit | The Corner Shelf Unit |
        The Corner Shelf Unit is the lightest. | Corner Shelf Unit by Linden House |
        Linden House's Corner Shelf Unit | The Linden House Corner Shelf Unit at 12.3 kg""",
        """Shelf Unit | Linden House Shelf Unit |
        the heaviest is the Linden House Corner Shelf Unit |
        the second lightest is the Linden House Corner Shelf Unit | Corner, Oak, Walnut |
        Linden House Corner Shelf Unit and others |
        every shelf unit except the Corner Shelf Unit""",
    ),
    "map-16-3": (  # Which cafe in Saltwick has the best rating? The Copper Kettle, Saltwick
        """The Copper Kettle, Saltwick | The Copper Kettle | Copper Kettle in Saltwick |
        The Copper Kettle (Saltwick) has the best rating.""",
        """The Copper Kettle, Haverby | Copper Kettle Haverby | A cafe in Saltwick |
        The Copper Kettle, Café Station | not the Copper Kettle""",
    ),
    "map-17-5": (  # At which address in Wexcombe is the museum ...? 73 Quay Street
        """73 Quay Street | 73 Quay St. | 73 Quay Street, Wexcombe |
        It is at 73 Quay Street in Wexcombe. | Quay Street 73""",
        """Quay Street | 173 Quay Street | 73 Quay Road | 73 Quay Street or 12 High Street |
        next to 73 Quay Street""",
    ),
    "shop-11-7": (  # Which is heavier, the Casa Lume Sand-Glazed Water Glass or the ... Indigo ...?
        """Casa Lume Indigo Water Glass | Indigo Water Glass | The Indigo one |
        The Indigo one is heavier than the Sand-Glazed one. |
        The Casa Lume Indigo Water Glass; the other is lighter |
        The Sand-Glazed Water Glass is lighter than the Indigo Water Glass. |
        The Casa Lume Indigo Water Glass outweighs the Casa Lume Sand-Glazed Water Glass |
        the latter""",
        """Casa Lume Sand-Glazed Water Glass | Casa Lume Indigo Water Glass weighs less |
        the Casa Lume Indigo Water Glass is less heavy |
        The Casa Lume Indigo Water Glass is not heavier | both |
        They are equal: Casa Lume Indigo Water Glass | Indigo, Sand-Glazed | the former |
        Casa Lume Water Glass | The Sand-Glazed one is heavier than the Indigo one""",
    ),
    "forum-51-6": (  # Which community has more members, c/music or c/bread? bread
        """c/bread | bread | c/bread has more members than c/music. |
        c/music has fewer members than c/bread | Bread. Music has fewer members. |
        c/bread (2,000 members), c/music has fewer | c/bread > c/music""",
        """c/music | c/bread has fewer members | c/bread < c/music | c/bread is beaten by c/music |
        c/bread and c/music | equally many (bread)""",
    ),
    "forum-09-7": (  # What is the title of the oldest post in c/gardening?
        """Seed trays for little money? | “Seed trays for little money” |
        The oldest post is 'Seed trays for little money?' by vera_maker""",
        """Seed trays | the newest post is “Seed trays for little money?” |
        not “Seed trays for little money?”""",
    ),
    "code-13-6": (  # What role does Clara Quill have in barnacle? Developer
        """Developer | She is a developer. | Clara Quill has the role Developer. |
        Developer, not owner""",
        """Owner | no longer a developer | developer and maintainer | developer or guest |
        guest, developer, owner""",
    ),
    "map-05-0": (  # What are the coordinates of the Upper Tarn Museum of Local History?
        """44.3317, -71.2241 | (44.3317, -71.2241) | 44.3317° N, 71.2241° W |
        latitude 44.3317 and longitude -71.2241""",
        """-71.2241, 44.3317 | 44.3317 | 44.3317, 71.2241 | not 44.3317, -71.2241""",
    ),
    "shop-28-2": (  # How much does the Casa Lume King Pruner cost? N/A
        """N/A | It's N/A | N/A - the search shows 0 results |
        N/A. This product does not exist in the shop. | The shop has no such product: N/A |
        N/A, the shop has 12 pruners by Casa Lume, none called King""",
        """$12 | not N/A | N/A or $12 | N/A, it costs a lot | N/A. It costs twelve dollars. |
        There is no such product""",
    ),
    "code-55-8": (  # Who owns the C project that was created on Mar 3, 2023? N/A
        """N/A | N/A, there is no C project created on that day | The answer is N/A.""",
        """N/A; the owner is Amir Winslow | N/A, Amir Winslow | N/A. Amir Winslow owns it. |
        Amir Winslow""",
    ),
}
"""Written from the tasks alone."""

SECOND = {
    "code-01-0": (  # How many stars does the project harrow have? 19
        """19 stars | nineteen | harrow has 19 stars. | 19 (as of June 15, 2026) |
        The project page of harrow shows 19 stars | I found that harrow has 19 stars |
        19 stars, more than cormorant | The number of stars is 19 | **19** | 19!""",
        """around 19 | 19ish | 19 to 20 | 18-19 | 19,20 | 19/20 | 1 9 | 19.5 | nineteen hundred |
        19 thousand | 19 minus 1 | 19 + 1 | the square of 19 | a third of 19 | 19 times 2 |
        either 19 or 20 | 19 unless I miscounted | 19, or so | 19? 20? | certainly not 19 |
        it isn't 19 | it's never 19 | 19 is not correct | 19 would be wrong | It should be 19 |
        19 hours | 19% | $19 | -19 | 19th | 19x | 19e2 | 19a | star 19 | 19 at most |
        no more than 19 | not more than 19 | up to 19 stars | nearly 19 stars |
        10, 11, 12, 13, 14, 15, 16, 17, 18, 19 | 19, not 18, not 17, not 16, not 20, not 21 |
        ten, eleven, nineteen | nineteen or twenty""",
    ),
    "code-57-0": (  # How many seconds did the last failed pipeline ... take? 103
        """103 seconds | 103 s | 103 | It took 103 seconds (1 min 43 s). |
        The last failed pipeline took 103 seconds.""",
        """103 minutes | 103 ms | 103 hours | 102 seconds | 103 seconds or 104""",
    ),
    "shop-45-0": (  # Which of my orders ... has the highest total? Answer with its number. 2267
        """2267 | #2267 | Order #2267 | Order number 2267 has the highest total |
        #2267, with a total of $1,234.50""",
        """#2267 or #4157 | #4157 | #2267, #4157 | the order before #2267 |
        #2267 has the lowest total""",
    ),
    "map-06-0": (  # How many inhabitants does Eastmoor have? 58900
        """58,900 | 58900 inhabitants | 58.9 thousand | Eastmoor has 58,900 inhabitants""",
        """58.9 | 58,900 million | 5890 | fewer than 58,900 | 58,900-59,000""",
    ),
    "forum-35-4": (  # What is a fair price for “power adapter” ...? Answer like $12. 22
        """$22 | 22 dollars | USD 22 | A fair price is $22, according to the wiki. |
        twenty-two dollars""",
        """$22k | 22 cents | £22 | US$22.50 | $20-22 | $22 to $25 | between $22 and $30 |
        half of $22 | $22 each, $44 for two | as much as $22 | $22 less 10% | double $22""",
    ),
    "code-12-0": (  # When is the milestone 1.5 of lodestar due? Answer like 2026-06-02. 2026-06-25
        """2026-06-25 | June 25, 2026 | 25 June 2026 | 25.06.2026 | 06/25/2026 |
        It is due on 2026-06-25. | 25th of June, 2026""",
        """after 2026-06-25 | 2026-06-25 or later | not before 2026-06-25 |
        2026-06-24, 2026-06-25 | June 25 | 25/06/2025 | 2026-25-06-25 |
        one day before 2026-06-25 | until 2026-06-25, 2026-06-30 at the latest |
        2026-06-25 is not the due date | in June 2026""",
    ),
    "forum-06-0": (  # When did the author of the post ... join the forum? 2025-04-04
        """04/04/2025 | 4 Apr 2025 | Friday, April 4th, 2025 | 20250404""",
        """04/05/2025 | April 4 | 2025-04-04 (or 2025-04-05) | some time around April 4, 2025""",
    ),
    "map-04-1": (  # When does the Greenbasket Port Linnet close? 17:00
        """5 p.m. | 5:00 PM | 17:00 o'clock | The Greenbasket Port Linnet closes at 5 pm. |
        17.00""",
        """5 am | 5:00 AM | 17:01 | 17 | 17:00 or later | shortly before 17:00 |
        until 17:30, not 17:00 | 16:00, 17:00, 18:00""",
    ),
    "map-10-0": (  # How many minutes is it on foot from ... to ...? Answer like 7 min. 11
        """11 min | 11 | eleven minutes | 660 seconds | 11 min (0.9 km) |
        It is 11 minutes on foot.""",
        """11 hours | 11 km | 1 h 11 min | 11 min or 12 min | 10-11 min | 11 sec |
        a bit over 11 min | less than 11 minutes""",
    ),
    "admin-06-0": (  # Which SKUs does order #2856 contain? BE-2498 CO-1357 BE-2673 ST-2708
        """BE-2498, CO-1357, BE-2673, ST-2708 | 1. BE-2498 2. CO-1357 3. BE-2673 4. ST-2708 |
        Order #2856: BE-2498; CO-1357; BE-2673; and ST-2708.""",
        """BE-2498, CO-1357, BE-2673 | BE-2498, CO-1357, BE-2673, ST-2708, KE-7972 |
        BE-2498, CO-1357, BE-2673, perhaps ST-2708 |
        all but BE-2498, CO-1357, BE-2673, ST-2708 | BE-2498, CO-1357, BE-2673, ST-2708, etc.""",
    ),
    "code-04-0": (  # Which version of marigold should one download, ...? 2.2.9
        """2.2.9 | v2.2.9 | marigold 2.2.9 | Version 2.2.9, according to its README""",
        """2.2.9-beta | 2.2.90 | 2.2 | above 2.2.9 | 2.2.8 or 2.2.9 | any version but 2.2.9 |
        anything except 2.2.9 | 2.2.9 is outdated, 2.3.0 is better | 2.2.7, 2.2.8, 2.2.9""",
    ),
    "map-03-4": (  # What is the ZIP code of the Haverby Maritime Museum? 03104
        """03104 | ZIP code 03104 | Haverby, 03104""",
        """3104 | 03104 or 03105 | 031040 | 03104, 03105""",
    ),
    "forum-01-0": (  # Who wrote the post “Things I wish ... half marathon”? gideonreads
        """gideonreads | The post was written by gideonreads. | u/gideonreads | @gideonreads |
        gideonreads wrote it on Jan 31, 2026""",
        """gideonreads and omarwalks | omarwalks, gideonreads | a friend of gideonreads |
        gideonreads was not the author | gideonreads2 | whoever it is, not gideonreads |
        gideonreads, xyz123, foo | gideonreads etc. | gideonreads, among others |
        anybody other than gideonreads | The answer is unknown: gideonreads""",
    ),
    "shop-38-0": (  # Of the products of the type Headphones by Volta, ... heaviest? Volta Bass ...
        """Volta Bass Headphones | the Bass Headphones | Bass | Volta Bass |
        The heaviest is the Volta Bass Headphones at 0.4 kg. | Volta's Bass Headphones |
        The Volta Bass Headphones are the heaviest; the others are lighter.""",
        """Volta Headphones | Headphones | Volta Bass Headphones are the lightest |
        the second heaviest: Volta Bass Headphones | next after the Volta Bass Headphones |
        Bass, Studio, Travel, Open-Back | Volta Bass Headphones or Volta Travel Headphones |
        nothing but a guess: Volta Bass Headphones | Volta Bass Headphone Case |
        everything except the Volta Bass Headphones""",
    ),
    "map-14-2": (  # Which hospital is nearest to the Osteria Haverby? Little Marrow General ...
        """Little Marrow General Hospital |
        The Little Marrow General Hospital is the nearest, 4.2 km away. |
        Little Marrow General""",
        """Little Marrow | General Hospital |
        the hospital next to the Little Marrow General Hospital |
        The Little Marrow General Hospital is the farthest""",
    ),
    "map-02-0": (  # What is the street address of the Oakhollow Noodle Bar? 66 Market Row
        """66 Market Row | 66 Market Row, Oakhollow | The address is 66 Market Row. |
        Market Row 66""",
        """Market Row | 66 Market Road | 166 Market Row | 66 Market Row or 67 Market Row |
        opposite 66 Market Row""",
    ),
    "shop-11-0": (  # Which is heavier, the Pinwheel Bluetooth Desk Mat or the Kestrel Compact ...?
        """Kestrel Compact Desk Mat | The Kestrel Compact |
        The Kestrel Compact Desk Mat weighs more. |
        The Kestrel Compact Desk Mat weighs more than the Pinwheel Bluetooth Desk Mat |
        The Pinwheel Bluetooth Desk Mat weighs less than the Kestrel Compact Desk Mat |
        The Pinwheel Bluetooth Desk Mat is not heavier than the Kestrel Compact Desk Mat |
        Kestrel Compact Desk Mat (1.2 kg), the other weighs 0.9 kg | the second one""",
        """The Pinwheel Bluetooth Desk Mat is heavier |
        The Kestrel Compact Desk Mat is the lighter one |
        the Kestrel Compact Desk Mat is lighter than the other | Desk Mat | neither |
        the same weight: Kestrel Compact Desk Mat |
        Kestrel Compact Desk Mat, Pinwheel Bluetooth Desk Mat |
        Kestrel Compact Desk Mat and Pinwheel Bluetooth Desk Mat |
        The Kestrel Compact Desk Mat does not weigh more | the first one |
        the Kestrel Compact Desk Mat loses against the Pinwheel Bluetooth Desk Mat |
        The Kestrel Compact Desk Mat is lighter, the Pinwheel Bluetooth Desk Mat heavier |
        Volta Bass Headphones, Kestrel Compact Desk Mat""",
    ),
    "map-12-0": (  # Which is farther by car from the Aldermere Common: The Quillan Arms or ...?
        """Greenbasket Eastmoor | The Greenbasket Eastmoor is farther. |
        The Quillan Arms is nearer than the Greenbasket Eastmoor |
        The Greenbasket Eastmoor is farther from the Aldermere Common than The Quillan Arms. |
        Greenbasket Eastmoor (60.1 km); The Quillan Arms is only 38 km away""",
        """The Quillan Arms | The Greenbasket Eastmoor is nearer |
        The Quillan Arms is farther than the Greenbasket Eastmoor | Aldermere Common |
        both are 60 km away: Greenbasket Eastmoor""",
    ),
    "forum-08-0": (  # What is the title of the post with the most points in c/gardening?
        """Looking for advice on drip irrigation |
        The title is “Looking for advice on drip irrigation”. |
        "Looking for advice on drip irrigation" with 123 points""",
        """Looking for advice | the post after “Looking for advice on drip irrigation” |
        Looking for advice on drip irrigation systems or drippers |
        The post with the fewest points is “Looking for advice on drip irrigation”""",
    ),
    "code-13-0": (  # What role does Elsa Walsh have in sandpiper? Developer
        """Developer | Elsa Walsh is a Developer in sandpiper. | She has the role “Developer”.""",
        """Developer or Maintainer | Maintainer | Developer, Guest, Maintainer, Owner, Reporter |
        She is not a Developer | anything but Developer | formerly Developer, now Maintainer |
        more than a Developer""",
    ),
    "code-08-0": (  # From which branch does the merge request ... of sundial come?
        """report-errors-of-the-installer | The branch is report-errors-of-the-installer. |
        from the branch `report-errors-of-the-installer` into main""",
        """report-errors | report-errors-of-the-installer-2 | fix-report-errors-of-the-installer""",
    ),
    "map-11-8": (  # Which road does one leave first, ...? Castle Hill
        """Castle Hill | The first road is Castle Hill. | One leaves Castle Hill first.""",
        """Castle Hill Road | Mill Road, then Castle Hill | First Mill Road, then Castle Hill |
        Castle Hill or Mill Road | the road before Castle Hill""",
    ),
    "map-33-0": (  # ... what does one do at the end of Mill Road? Turn right onto Elm Avenue
        """Turn right onto Elm Avenue | One turns right onto Elm Avenue. |
        Turn right on Elm Avenue""",
        """Turn left onto Elm Avenue | Turn right | Elm Avenue |
        Turn right or left onto Elm Avenue | Do not turn right onto Elm Avenue""",
    ),
    "code-31-0": (  # Which operating system does the report ... name? Windows Server 2025
        """Windows Server 2025 | The report names Windows Server 2025.""",
        """Windows | Windows 11 | Windows Server 2025 or Debian 13 |
        Windows Server 2025, Ubuntu 26.04""",
    ),
    "code-48-9": (  # Which milestone ... has the most open issues and merge requests? 2.4
        """2.4 | v2.4 | Milestone 2.4 with 12 open items | milestone “2.4”""",
        """2.4.1 | 1.2 | 2.4, 2.5 | milestone 2.4 has the fewest | above 2.4""",
    ),
    "map-52-0": (  # Which is the largest town with fewer than 46,500 inhabitants? Aldermere
        """Aldermere | Aldermere, with 45,300 inhabitants | The largest such town is Aldermere.""",
        """Haverby | Aldermere or Haverby | Aldermere, Haverby |
        the smallest such town is Aldermere | near Aldermere""",
    ),
    "map-31-0": (  # What does Pablo Abbott recommend in the review ...? hot-dog roll
        """hot-dog roll | the hot-dog roll | Pablo Abbott recommends the hot-dog roll.""",
        """roll | hot-dog roll or cheese scone | not the hot-dog roll |
        hot-dog roll, cheese scone""",
    ),
    "shop-28-0": (  # How much does the Aerisonic Rattan Wool Blanket cost? N/A
        """N/A. There is no such product in the shop. | N/A (not found) |
        N/A, because the shop does not sell it |
        No product of this name exists, so the answer is N/A |
        N/A. The search for “Aerisonic Rattan Wool Blanket” returned other blankets only. |
        N/A — the product isn't listed | `N/A`""",
        """N/A, it is free | N/A, the cheapest one is $20 | N/A, about 20 dollars | N/A? $20 |
        it isn't N/A | N/A unless it costs $20 | $20 (N/A) | the price is N/A or $5 |
        Not found | 0""",
    ),
    "code-55-0": (  # Who owns the Java project that was created on May 1, 2024? N/A
        """N/A, no Java project was created on May 1, 2024 |
        N/A. I searched all projects and found none. | The project does not exist: N/A""",
        """N/A, Emeka Zhou | N/A (owner: Emeka Zhou) | N/A: it belongs to Emeka Zhou |
        Emeka Zhou, N/A | nobody""",
    ),
    "forum-28-0": (  # How many points does the post “The end of ice fishing” have? N/A
        """N/A | N/A, there is no post with this title |
        N/A. No post “The end of ice fishing” was found.""",
        """N/A, it has 12 points | N/A, twelve points | 12 | 0 points""",
    ),
    "shop-48-0": (  # Which product of the type Keycap Set by Kestrel costs less than $153? N/A
        """N/A, no Keycap Set by Kestrel costs less than $153 |
        N/A. All of them cost more than $153.""",
        """N/A, the Kestrel Compact Keycap Set | N/A: Kestrel Compact Keycap Set for $120""",
    ),
    "admin-05-0": (  # Who placed order #3593? Esme Ibarra
        """Esme Ibarra, who placed order #3593 on Jan 3, 2025 | Customer: Esme Ibarra |
        Ms. Esme Ibarra | Esme Ibarra and nobody else | Esme Ibarra from Tucson |
        I believe it was Esme Ibarra""",
        """Esme Ibarra, John Doe | Esme Ibarra Jr. | both Esme Ibarra and Wanda Novak |
        everyone, including Esme Ibarra | one of them is Esme Ibarra |
        any of: Esme Ibarra, foo, bar | placed for Esme Ibarra by Wanda Novak |
        Esme Ibarra cancelled it; Wanda Novak placed it |
        Esme Ibarra received it, Wanda Novak placed it | Esme Novak Ibarra |
        some say Esme Ibarra""",
    ),
    "admin-01-0": (  # How many orders has the customer Simone Thorne placed? 6
        """Simone Thorne: 6 | Total orders: 6 | 6 orders since Jan 3, 2024 | **6** |
        The grid shows 6 records for Simone Thorne""",
        """6 per month | the number before 6 | ten times 6 | 6 out of 10 | 6 of 12 | 5+1 | 7-1 |
        .6 | 06:06 | six hundred and six | up to and including 6 | 6 tops | a minimum of 6 |
        order 6 | upwards of 6 | 6, approximately | 6 or thereabouts | who knows, 6 |
        rather 7 than 6""",
    ),
    "shop-44-3": (  # What is the total of the order that I placed on Feb 8, 2025? $1,126.50
        """The order total is $1,126.50 (order #2345) | Grand total $1,126.50 | 1,126.50 USD""",
        """CAD 1,126.50 | 1,126.50 yen | $8.95 $1,126.50 | $1,126.50, $1,127.50, $1,128.50 |
        $1,126.50 before tax and $1,200 after | $11,126.50 | $1,126.50 per month""",
    ),
    "map-04-0": (  # When does the Little Marrow Maritime Museum close? 18:00
        """18:00 (6 pm) | open until 18:00 | Closing time: 18:00""",
        """18:00-19:00 | between 17:00 and 18:00 | It opens at 18:00 | 18:00 at the latest""",
    ),
    "forum-51-6": (  # Which community has more members, c/music or c/bread? bread
        """Bread has more members (95 vs. 81). | c/music is smaller than c/bread | c/bread: 95""",
        """c/music: 95, c/bread: 81 members, so c/music | c/music beats c/bread |
        c/bread is smaller | c/bread has as many members as c/music |
        c/bread, c/music, c/running | without c/bread""",
    ),
}
"""Written with the judge's rules at hand, to break them."""
