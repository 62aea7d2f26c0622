-- The subscriptions of a shop are listed in the order of their creation, which never changes. What else is asked for is a condition.
create index subscription_of_shop on subscription (party_id, shop_id, created_at, subscription_id);
