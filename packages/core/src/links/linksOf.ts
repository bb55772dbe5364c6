import { type LinkPosition, type LinkRecord, type LinkStore, type Turn, Yielder } from '@stowage/plugin-api';

/** Rows that are read at once. */
const pageSize = 100;

interface Options {
	ownerId?: string | undefined;
	after?: LinkPosition | undefined;
	/** The items of shares as well. */
	withShares?: boolean;
	signal?: AbortSignal | undefined;
	turn?: Turn;
}

/**
 * All links of one owner or of all, the newest first, read by pages; other requests have their turn between them. Links may be changed or
 * removed meanwhile. Throws the signal's reason when it is aborted.
 */
export async function* linksOf(
	store: Pick<LinkStore, 'page'>,
	{ ownerId, after, withShares = false, signal, turn }: Options = {},
): AsyncGenerator<LinkRecord> {
	const yielder = new Yielder(turn);
	for (let last = after; ; ) {
		signal?.throwIfAborted();
		const page = await store.page({
			limit: pageSize,
			withShares,
			...(ownerId === undefined ? {} : { ownerId }),
			...(last === undefined ? {} : { after: last }),
		});
		for (const link of page) {
			if (yielder.shouldYield) await yielder.yield(signal);
			yield link;
		}
		last = page.at(-1);
		if (page.length < pageSize) return;
	}
}
