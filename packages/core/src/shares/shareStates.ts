import type { BoundItem, ShareHead, ShareRecord, ShareStore } from '@stowage/plugin-api';
import type { ShareState } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { Lifetimes } from '../links/Lifetimes.js';
import { recordIfPossible } from '../links/recordIfPossible.js';
import type { Log } from '../log.js';
import { isTrashedLink } from '../trees/trash/trashPaths.js';

/** How shares stand, which is calculated. */
export interface ShareStates {
	/** When it ends, which the administrator may have set earlier than its owner; null is never. */
	expiryOf(share: Pick<ShareRecord, 'createdAt' | 'expiresAt'>): number | null;
	/** How it stands, but for its items. Remembers that it has expired, if that can be written down. */
	stateOf(share: ShareHead): Promise<Exclude<ShareState, 'gone'>>;
}

interface Dependencies {
	store: Pick<ShareStore, 'end'>;
	config: Pick<Config, 'shares'>;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

export function createShareStates({ store, config, log, now, monotonic }: Dependencies): ShareStates {
	const lifetimes = new Lifetimes(now, monotonic);

	const expiryOf: ShareStates['expiryOf'] = ({ createdAt, expiresAt }) => {
		const { maxLifetime } = config.shares;
		if (maxLifetime === 0) return expiresAt;
		return Math.min(expiresAt ?? Number.POSITIVE_INFINITY, createdAt + maxLifetime);
	};

	const stateOf: ShareStates['stateOf'] = async (share) => {
		const expiresAt = expiryOf(share);
		if (expiresAt !== null) {
			// Another end is another life.
			const life = { ...share, id: `${share.id} ${expiresAt}`, expiresAt };
			if (lifetimes.stateOf(life) !== 'good') {
				// Or a clock that is set back later would wake it.
				if (now() >= expiresAt && !share.isEnded && share.expiresAt === expiresAt)
					await recordIfPossible(log, store.end(share.id, expiresAt));
				return 'expired';
			}
		}
		if (share.maxDownloads !== null && share.downloads >= share.maxDownloads) return 'used';
		return share.isPaused ? 'paused' : 'active';
	};

	return { expiryOf, stateOf };
}

/** Whether an item of a share is in the trash, or on its way there. */
export const isInTrash = ({ path, nextPath }: BoundItem) =>
	isTrashedLink(path) || (nextPath !== undefined && isTrashedLink(nextPath));
