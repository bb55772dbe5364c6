import type { LimitStore } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import type { SiblingEvents } from '../events/SiblingEvents.js';

/** Keys counted in memory at most, so that visitors can't fill it: above that, the least recently hit one is dropped. */
const maxKeys = 10_000;

const siblingKind = 'countedInMemory';

type Change =
	| { change: 'hit'; key: string; windowMs: number; now: number; amount: number }
	| { change: 'release'; key: string; endsAt: number };

/** The windows of two processes begin with the first attempt that each has heard of. */
const spreadMs = 10_000;

/**
 * Wraps the store: it counts in memory while the database has no room, so that a full disk neither refuses correct
 * sign-ins nor permits uncounted guesses. The processes behind one primary process tell each other what they count.
 */
export function withMemoryFallback(store: LimitStore, siblings: Pick<SiblingEvents, 'on' | 'sendSafely'>): LimitStore {
	const counts = new Map<string, { count: number; endsAt: number }>();
	const tell = (change: Change) => siblings.sendSafely({ kind: siblingKind, ...change });
	siblings.on(siblingKind, (message) => {
		const change = message as unknown as Change;
		if (change.change === 'hit') add(change.key, change.windowMs, change.now, change.amount);
		else if (isWindow(counts.get(change.key), change.endsAt)) subtract(change.key);
	});

	const countInMemory = async (key: string, windowMs: number, now: number, amount: number) => {
		const counted = add(key, windowMs, now, amount);
		// Before the caller is answered, so that the next try finds it wherever it is made.
		await tell({ change: 'hit', key, windowMs, now, amount });
		return counted;
	};
	const add = (key: string, windowMs: number, now: number, amount: number) => {
		for (const [known, { endsAt }] of counts) if (endsAt <= now) counts.delete(known);
		const { count, endsAt } = counts.get(key) ?? { count: 0, endsAt: now + windowMs };
		const counted = { count: count + amount, endsAt };
		counts.delete(key);
		counts.set(key, counted);
		const [oldest] = counts.keys();
		if (counts.size > maxKeys && oldest !== undefined) counts.delete(oldest);
		return counted;
	};
	const subtract = (key: string): boolean => {
		const counted = counts.get(key);
		if (counted === undefined || counted.count < 1) return false;
		counts.set(key, { ...counted, count: counted.count - 1 });
		return true;
	};
	const releaseInMemory = (key: string, endsAt: number): boolean => {
		const isCounted = counts.get(key)?.endsAt === endsAt && subtract(key);
		if (isCounted) void tell({ change: 'release', key, endsAt });
		return isCounted;
	};
	const releaseStored = async (release: () => Promise<void>) => {
		try {
			await release();
		} catch (error) {
			// The remaining count ends with its window.
			if (!isFailure(error, 'storageFull')) throw error;
		}
	};
	return {
		async hit(key, windowMs, now, amount = 1) {
			try {
				return await store.hit(key, windowMs, now, amount);
			} catch (error) {
				if (!isFailure(error, 'storageFull')) throw error;
				return countInMemory(key, windowMs, now, amount);
			}
		},
		async hitEach(tries, now) {
			try {
				return await store.hitEach(tries, now);
			} catch (error) {
				if (!isFailure(error, 'storageFull')) throw error;
				return Promise.all(tries.map(({ key, windowMs }) => countInMemory(key, windowMs, now, 1)));
			}
		},
		// Of what is counted in memory nothing is known before it is counted.
		peekEach: (tries, now) => store.peekEach(tries, now),
		async releaseEach(counted) {
			const stored = counted.filter(({ key, endsAt }) => !releaseInMemory(key, endsAt));
			if (stored.length > 0) await releaseStored(() => store.releaseEach(stored));
		},
	};
}

function isWindow(counted: { endsAt: number } | undefined, endsAt: number): boolean {
	return counted !== undefined && Math.abs(counted.endsAt - endsAt) < spreadMs;
}
