import type { TrashRecord } from '@stowage/plugin-api';
import { Counts } from '../../limits/Counts.js';
import type { TrashPurge } from './TrashPurge.js';
import { type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';

/** Items of one user and kind that are kept at most, and how many new ones there may be before they are counted again. */
const trashLimits = { items: 100_000, uncounted: 1_000 };

/** Each item in the trash is a row, so a user has no more than so many: the oldest go. */
export class TrashLimits {
	readonly #parts: TrashParts;
	readonly #purge: Pick<TrashPurge, 'purge'>;
	readonly #limits: typeof trashLimits;
	/** How many items of a kind each user has put in since their number was last read. */
	readonly #keptOf = new Counts();

	constructor(parts: TrashParts, purge: Pick<TrashPurge, 'purge'>, limits = trashLimits) {
		this.#parts = parts;
		this.#purge = purge;
		this.#limits = limits;
	}

	/** Called for each new item. */
	async added(ownerId: string, kind: TrashRecord['kind']): Promise<void> {
		const key = `${kind} ${ownerId}`;
		this.#keptOf.add(key, 1);
		const { items, uncounted } = this.#limits;
		if (this.#keptOf.of(key) < uncounted) return;
		this.#keptOf.add(key, -uncounted);
		const { store } = this.#parts;
		try {
			for (let excess = (await store.count(ownerId, kind)) - items; excess > 0; excess -= trashBatch) {
				const limit = Math.min(excess, trashBatch);
				const oldest = await store.list({ order: 'oldest', limit, ownerId, kind });
				const ended = await this.#purge.purge({ ids: oldest.map(({ id }) => id) });
				await this.#parts.onEnded(kind, ended, 'number', oldest[0]);
			}
		} catch (error) {
			warnOfTrash(this.#parts, error);
		}
	}
}
