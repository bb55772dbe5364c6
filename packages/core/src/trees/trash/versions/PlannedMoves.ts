import { isFailure, type StoragePath } from '@stowage/rules';
import { z } from 'zod';
import { createKeyedMutex } from '../../../limits/keyedMutex.js';
import { identityOf } from '../../identity.js';
import { type TrashParts, warnOfTrash } from '../trashParts.js';
import { itemAt } from './finishVersion.js';

/** A move that has begun, of a file or a folder with versions in it. */
const plannedMove = z.object({ from: z.string(), to: z.string(), item: z.string() });
type PlannedMove = z.infer<typeof plannedMove>;

/** Characters of paths of one user's at most, the newest: each is there for a moment, unless its process ends then. */
const maxCharacters = 300_000;

/**
 * The moves of files with versions that are under way, by their owners. A move that is interrupted between the disk and the rows, by a
 * kill, a failed sync or an outage of the database, is completed by what the disk says before these rows are used again: until then they
 * would be those of whatever gets the former path, and none of the item's own once its home is on another disk.
 */
export class PlannedMoves {
	readonly #parts: Pick<TrashParts, 'moves' | 'storage' | 'store' | 'users' | 'log' | 'config'>;
	readonly #exclusively = createKeyedMutex();

	constructor(parts: Pick<TrashParts, 'moves' | 'storage' | 'store' | 'users' | 'log' | 'config'>) {
		this.#parts = parts;
	}

	/** Writes that the item at `from` is about to be moved. On a full database nothing is written, and the move is made all the same. */
	async begin(ownerId: string, from: StoragePath, to: StoragePath): Promise<void> {
		const item = await itemAt(this.#parts, ownerId, from);
		if (item === undefined) return;
		const plan = { from, to, item: identityOf(item) };
		const withPlan = (plans: PlannedMove[]) => newest([...plans.filter((each) => each.from !== from), plan]);
		await this.#change(ownerId, withPlan).catch((error: unknown) => {
			if (!isFailure(error, 'storageFull')) throw error;
		});
	}

	/** The rows of what was to be moved are right. */
	async end(ownerId: string, from: string, to: string): Promise<void> {
		await this.#change(ownerId, (plans) => plans.filter((each) => each.from !== from || each.to !== to));
	}

	/**
	 * Calls `move` with each move that was made, and whose rows may not say so yet. One that was not made stays for `from`, if given, only
	 * where that can't be known.
	 */
	async complete(
		ownerId: string,
		move: (from: StoragePath, to: StoragePath) => Promise<void>,
		failed?: StoragePath,
	): Promise<void> {
		try {
			for (const { from, to, item } of await this.#plansOf(ownerId)) {
				if (await this.#isAt(ownerId, to, item)) await move(from as StoragePath, to as StoragePath);
				else if (from !== failed || !(await this.#isAt(ownerId, from, item))) continue;
				await this.end(ownerId, from, to);
			}
		} catch (error) {
			// Whoever asks next tries it again.
			warnOfTrash(this.#parts, error);
		}
	}

	async #isAt(ownerId: string, path: string, item: string): Promise<boolean> {
		const found = await itemAt(this.#parts, ownerId, path as StoragePath);
		return found !== undefined && identityOf(found) === item;
	}

	async #plansOf(ownerId: string): Promise<PlannedMove[]> {
		// What can't be read, as of another version, is not completed.
		return z.array(plannedMove).safeParse((await this.#parts.moves.get(ownerId)) ?? []).data ?? [];
	}

	#change(ownerId: string, change: (plans: PlannedMove[]) => PlannedMove[]): Promise<void> {
		return this.#exclusively(ownerId, async () => {
			const plans = change(await this.#plansOf(ownerId));
			if (plans.length === 0) await this.#parts.moves.remove(ownerId);
			else await this.#parts.moves.set(ownerId, plans, this.#parts.config.versions.keepFor);
		});
	}
}

function newest(plans: readonly PlannedMove[]): PlannedMove[] {
	let characters = 0;
	const kept = plans.toReversed().filter(({ from, to }) => {
		characters += from.length + to.length;
		return characters <= maxCharacters;
	});
	return kept.reverse();
}
