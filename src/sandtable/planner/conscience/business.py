"""Business terms for the words of column names, in one place. Nothing here names a dataset."""

from __future__ import annotations

from sandtable.planner.language.words import stem

_BUSINESS = """
revenue: amount total sale sales gross turnover income price fare value net paid earning takings
sale: amount total revenue order turnover gross sell
sell: sale order ticket quantity unit price revenue amount
sold: sale order ticket quantity unit price revenue amount
earn: salary wage pay income amount fee revenue
make: salary wage pay income revenue
spend: amount cost price spend expense paid total budget
expense: cost amount spend
cost: price amount fee fare expense spend
expensive: price cost amount fee fare rent
money: amount price cost revenue fee total budget
paid: amount price fee salary payment pay fare freight rent cost
pay: amount price fee salary payment wage fare freight rent cost
buy: order purchase price buyer product
order: purchase sale
purchase: order buy
donate: donation gift amount
give: gift donation amount donor
gift: donation amount
headcount: employee staff person
employ: employee staff
staff: employee
worker: employee
colleague: employee
client: customer account
shopper: customer
vendor: supplier
shipment: delivery parcel order
parcel: delivery shipment
deliver: delivery
late: delay overdue due
overdue: due late
delay: late
happy: csat rating satisfaction score star nps
satisfied: csat rating satisfaction score star nps
happiest: csat rating satisfaction score star nps
review: rating star score
mark: grade score point
grade: score mark
churn: cancel end quit
quit: cancel leave end
leave: end quit leaver exit dep departure
drop: dropped withdraw quit
cancel: cancellation cancelled status
hire: hired start join
join: joined start signup registered member hire
signup: registered joined created start
sign: signup registered joined created start signature
enrol: enrolment
visit: session visitor checkin
traffic: visit session
trip: ride journey flight
ride: trip
departure: flight dep
passenger: pax
depart: dep departure
arrive: arr arrival received
arrival: received
grow: crop harvest yield
category: type kind class
type: category kind
night: stay
stay: night booking
booking: reservation
bill: invoice receipt
invoice: bill
receipt: bill
pupil: student
kid: child
job: order task ticket
repair: job
doctor: physician dentist
dentist: doctor
flat: apartment unit
apartment: flat
wine: bottle
bottle: wine
stock: quantity bottle inventory
crop: harvest
harvest: crop yield
yield: harvest
stop: stoppage
breakdown: stoppage failure
outage: stoppage
machine: equipment
lead: prospect
deal: opportunity
prospect: lead opportunity
pipeline: deal opportunity stage
candidate: applicant application
applicant: candidate application
apply: application applied
release: published episode
publish: published release
download: listen
listen: download
show: podcast series program
town: city municipality
place: city location town
woman: gender sex
women: gender sex
man: gender sex
men: gender sex
female: gender sex
male: gender sex
age: old birth
old: age birth year
young: age birth
long: duration length minute hour distance time
last: duration minute
take: duration minute hour
big: size amount area
heavy: weight
price: fare rate cost amount
fare: price amount
temperature: temp
battery: charge
weekday: day
staffed: employee
occupancy: occupied
busy: count
attend: attendance attendee
watch: view viewer
view: viewer
vote: ballot
error: fault failure
broken: failure fault
reason: cause
cause: reason
method: type mode way
mode: type method
channel: source medium
source: channel origin
status: state phase stage
phase: stage status
step: stage phase
person: name customer employee member student patient donor reader player candidate
people: name customer employee member student patient donor reader player candidate
team: department
boss: manager
"""


def _business() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _BUSINESS.strip().splitlines():
        word, _, others = line.partition(":")
        found.setdefault(stem(word), set()).update(stem(other) for other in others.split())
    return {word: frozenset(others) for word, others in found.items()}


BUSINESS = _business()
