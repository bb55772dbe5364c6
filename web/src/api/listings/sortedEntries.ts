import { type Entry, type SortMode, sortEntries } from '@stowage/rules';

const cache = new WeakMap<readonly Entry[], Map<SortMode, Entry[]>>();

/** The orders in which these entries were shown, as long as the entries exist. */
export function ordersOf<E extends Entry>(entries: readonly E[]): Map<SortMode, E[]> {
	const orders = cache.get(entries) ?? new Map<SortMode, Entry[]>();
	cache.set(entries, orders);
	return orders as Map<SortMode, E[]>;
}

/** The entries in this order, sorted once. */
export function sortedEntries<E extends Entry>(entries: readonly E[], sort: SortMode): E[] {
	const orders = ordersOf(entries);
	const sorted = orders.get(sort) ?? (sortEntries(entries, sort) as E[]);
	orders.set(sort, sorted);
	return sorted;
}
