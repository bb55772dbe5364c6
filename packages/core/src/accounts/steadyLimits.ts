import type { LimitStore } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';

/** Keys counted in memory at most, so that strangers can't fill it: beyond, what was hit longest ago is forgotten. */
const maxKeys = 10_000;

/**
 * The same limits, counted in memory while the database has no room for them: a full disk neither keeps honest people out nor lets guesses through uncounted.
 */
export function steadyLimits(store: LimitStore): LimitStore {
	const counts = new Map<string, { count: number; endsAt: number }>();

	const countHere = (key: string, windowMs: number, now: number, amount: number) => {
		for (const [known, { endsAt }] of counts) if (endsAt <= now) counts.delete(known);
		const { count, endsAt } = counts.get(key) ?? { count: 0, endsAt: now + windowMs };
		const counted = { count: count + amount, endsAt };
		counts.delete(key);
		counts.set(key, counted);
		const [oldest] = counts.keys();
		if (counts.size > maxKeys && oldest !== undefined) counts.delete(oldest);
		return counted;
	};
	return {
		async hit(key, windowMs, now, amount = 1) {
			try {
				return await store.hit(key, windowMs, now, amount);
			} catch (error) {
				if (!isFailure(error, 'storageFull')) throw error;
				return countHere(key, windowMs, now, amount);
			}
		},
		async release(key, amount = 1) {
			const counted = counts.get(key);
			if (counted !== undefined && counted.count >= amount) {
				counts.set(key, { ...counted, count: counted.count - amount });
				return;
			}
			try {
				await store.release(key, amount);
			} catch (error) {
				// What stays counted ends with its window.
				if (!isFailure(error, 'storageFull')) throw error;
			}
		},
	};
}
