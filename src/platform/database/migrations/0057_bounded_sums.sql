-- A rebuild sums hours and days again with each day of a shop, in statements of its own: one over all of them took too long.
drop function remake_coarse_sums();
