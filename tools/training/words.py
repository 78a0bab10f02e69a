"""Names and words that the generated documents are made of.

Common given names, family names, cities and everyday words; nobody in particular. Free to use, as the package.

In: nothing. Out: tuples of strings. Cost: none.
"""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GIVEN_NAMES = _words(
    """
    James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph
    Jessica Thomas Sarah Charles Karen Anna Peter Laura Daniel Emma Olivia Noah Liam Sophia Lucas Mia Ella Grace
    Henry Alice Clara Maria Juan Carlos Sofia Lucia Pedro Ana Luis Marta Elena Marco Giulia Luca Chiara Hans
    Greta Lukas Hannah Felix Jonas Pierre Marie Camille Louis Chloe Hugo Ingrid Lars Astrid Erik Freya Nils
    Aisha Omar Fatima Yusuf Layla Hassan Priya Arjun Ananya Rahul Mei Wei Yuki Haruto Sakura Kenji Min Jiwoo
    Ivan Olga Dmitri Natasha Zoe Oscar Ruby Leo Nora Theo Amara Kwame Zuri Kofi José Zoë André René Björn Jürgen
    Søren Łukasz
    """
)
FAMILY_NAMES = _words(
    """
    Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Hernandez Lopez Gonzalez Wilson
    Anderson Thomas Taylor Moore Jackson Martin Lee Thompson White Harris Clark Lewis Robinson Walker Young
    Allen King Wright Scott Hill Green Adams Nelson Baker Hall Campbell Mitchell Carter Roberts Turner Phillips
    Evans Parker Edwards Collins Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Dubois Laurent
    Moreau Rossi Russo Ferrari Bianchi Silva Santos Oliveira Costa Kowalski Nowak Andersson Hansen Nielsen
    Larsen Virtanen Ivanov Petrov Tanaka Suzuki Sato Watanabe Kim Park Chen Wang Li Zhang Nguyen Tran Patel
    Singh Kumar Sharma Khan Ahmed Okafor Mensah Abebe O'Connor Nuñez García
    """
)
PLACES = (
    ("London", "United Kingdom", "GB"), ("Paris", "France", "FR"), ("Berlin", "Germany", "DE"),
    ("Madrid", "Spain", "ES"), ("Rome", "Italy", "IT"), ("Vienna", "Austria", "AT"),
    ("Lisbon", "Portugal", "PT"), ("Dublin", "Ireland", "IE"), ("Amsterdam", "Netherlands", "NL"),
    ("Brussels", "Belgium", "BE"), ("Copenhagen", "Denmark", "DK"), ("Stockholm", "Sweden", "SE"),
    ("Oslo", "Norway", "NO"), ("Helsinki", "Finland", "FI"), ("Warsaw", "Poland", "PL"),
    ("Prague", "Czech Republic", "CZ"), ("Budapest", "Hungary", "HU"), ("Athens", "Greece", "GR"),
    ("Zürich", "Switzerland", "CH"), ("New York", "United States", "US"), ("Chicago", "United States", "US"),
    ("San Francisco", "United States", "US"), ("Boston", "United States", "US"),
    ("Seattle", "United States", "US"), ("Austin", "United States", "US"), ("Denver", "United States", "US"),
    ("Springfield", "United States", "US"), ("Toronto", "Canada", "CA"), ("Vancouver", "Canada", "CA"),
    ("Mexico City", "Mexico", "MX"), ("São Paulo", "Brazil", "BR"), ("Buenos Aires", "Argentina", "AR"),
    ("Lima", "Peru", "PE"), ("Bogotá", "Colombia", "CO"), ("Tokyo", "Japan", "JP"), ("Osaka", "Japan", "JP"),
    ("Seoul", "South Korea", "KR"), ("Beijing", "China", "CN"), ("Shanghai", "China", "CN"),
    ("Singapore", "Singapore", "SG"), ("Mumbai", "India", "IN"), ("Delhi", "India", "IN"),
    ("Sydney", "Australia", "AU"), ("Melbourne", "Australia", "AU"), ("Auckland", "New Zealand", "NZ"),
    ("Cairo", "Egypt", "EG"), ("Nairobi", "Kenya", "KE"), ("Lagos", "Nigeria", "NG"),
    ("Cape Town", "South Africa", "ZA"), ("Istanbul", "Turkey", "TR"),
)  # fmt: skip
STREETS = _words(
    """
    Main Oak Maple Cedar Park Elm Lake Hill Washington Church Market High Station Mill River Garden Forest
    Spring Bridge King Queen Victoria Sunset Highland Franklin Lincoln Jefferson Madison Chestnut Walnut
    """
)
STREET_KINDS = ("Street", "Avenue", "Road", "Lane", "Drive", "Boulevard", "Court", "Way")
HOSTS = ("example.com", "example.org", "example.net", "mail.example.com", "test.example.org")
COMPANIES = _words(
    """
    Acme Globex Initech Umbrella Northwind Contoso Fabrikam Stark Wayne Vandelay Hooli Soylent Aperture Tyrell
    Cyberdyne Wonka Oceanic Gringotts Pied Massive
    """
)
COMPANY_KINDS = ("Inc.", "Ltd.", "GmbH", "Corporation", "Group", "Labs", "Systems", "Software", "Foods", "Energy")
JOBS = (
    "software engineer", "teacher", "nurse", "accountant", "designer", "project manager", "data scientist", "chef",
    "electrician", "lawyer", "journalist", "architect", "sales manager", "mechanic", "pharmacist", "librarian",
)  # fmt: skip
DEPARTMENTS = ("Engineering", "Sales", "Marketing", "Finance", "Support", "Human Resources", "Research", "Operations")
PRODUCTS = (
    "laptop", "phone", "desk", "chair", "lamp", "keyboard", "mouse", "monitor", "headphones", "backpack", "jacket",
    "shoes", "coffee mug", "water bottle", "notebook", "camera", "watch", "speaker", "tablet", "charger", "cable",
    "bicycle", "tent", "sleeping bag", "pan", "knife", "table", "sofa", "pillow", "blanket", "book", "board game",
"puzzle", )  # fmt: skip
ADJECTIVES = _words(
    """
    new old small large red blue green black white fast quiet bright simple modern classic light heavy wooden
    steel soft warm cold fresh dry smart portable wireless organic local daily weekly final open closed public
    private early late good great short long
    """
)
NOUNS = _words(
    """
    house garden river mountain city road train car boat plane table window door room school office market shop
    team project meeting report message letter picture story song film game question answer problem plan idea
    result test system server network file page user account order price day week month year morning evening
    summer winter
    """
)
VERBS = _words(
    """
    opens closes moves keeps finds shows needs takes gives makes starts stops changes holds meets checks sends
    reads writes follows leads brings builds helps reaches covers joins leaves
    """
)
COLORS = ("red", "green", "blue", "yellow", "black", "white", "orange", "purple", "brown", "gray", "pink", "cyan")
TAGS = (
    "news", "music", "travel", "food", "sports", "science", "art", "health", "business", "technology", "python", "json",
    "api", "web", "data", "design", "security", "testing", "cloud", "mobile", "urgent", "draft", "archived", "featured",
)  # fmt: skip
CURRENCIES = ("USD", "EUR", "GBP", "JPY", "CHF", "SEK", "INR", "CAD", "AUD")
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "ja", "ko", "zh", "en-US", "en-GB", "pt-BR")
INGREDIENTS = (
    "flour", "sugar", "butter", "eggs", "milk", "salt", "pepper", "olive oil", "garlic", "onion", "tomatoes", "rice",
    "chicken", "cheese", "basil", "lemon", "honey", "water", "yeast", "potatoes", "carrots", "cream", "chocolate",
)  # fmt: skip
GENRES = ("drama", "comedy", "fantasy", "mystery", "history", "adventure", "romance", "thriller", "science fiction")
HOBBIES = (
    "reading", "cooking", "hiking", "photography", "gardening", "chess", "painting", "swimming", "running", "cycling",
    "music", "travel", "dancing", "fishing", "yoga", "climbing",
)  # fmt: skip
KEYS = _words(
    """
    id type value name key count label list config options data meta next x y z min max start end size color enabled
    items parent level code
    """
)
