import type { VersionedFile } from '@stowage/plugin-api';
import { Failure, homeRoot, relativePath, type StoragePath, type User } from '@stowage/rules';
import type { TrashBin } from '../TrashBin.js';
import type { NewContent, TrashParts } from '../trashParts.js';
import { alternatingFactor, superfluous } from './superfluous.js';

/** Versions of one file. */
const maxVersions = 50;

/** With so many a member joins no other file to one: that content counts as the owner's, and can't give way to what the member does. */
const mostJoined = alternatingFactor * maxVersions;

/**
 * With so many a member writes no content either. It is known who has written that, so it gives way itself: there are more than
 * `mostJoined` only where older servers or other programs have written as many. Members of a file that was full by then can go on.
 */
const mostWritten = mostJoined + maxVersions;

/**
 * How many versions one file has. A member of a folder ends none but those that this member has written, so what a member adds beyond the
 * limit would push out the owner's with the owner's next replacement: it is refused where it can't give way itself.
 */
export class VersionLimit {
	readonly #parts: Pick<TrashParts, 'versions'>;
	readonly #bin: Pick<TrashBin, 'endSuperfluous'>;

	constructor(parts: Pick<TrashParts, 'versions'>, bin: Pick<TrashBin, 'endSuperfluous'>) {
		this.#parts = parts;
		this.#bin = bin;
	}

	/**
	 * Called right before a file is replaced. Throws `forbidden` where a member would join the versions of two files to more than one may
	 * have, or adds to a file that has too many: other files have room. Resolves to how many versions the new content brings.
	 */
	async assertRoom({ id, username, member }: User, path: StoragePath, content: NewContent): Promise<number> {
		const brought =
			content.kind === 'moved' ? await this.#count(id, relativePath(content.from, homeRoot(username))) : 0;
		if (member === undefined || content.kind === 'restored') return brought;
		const there = await this.#count(id, path);
		if (there + brought <= mostBefore(content, there, brought)) return brought;
		throw new Failure('forbidden', 'There are too many former contents of this file for another one of yours.');
	}

	/** Called with a file that has `count` versions now, of which it has brought some with it. `member` is who has replaced it. */
	async apply(
		ownerId: string,
		file: VersionedFile,
		{ count, brought }: { count: number; brought: number },
		member: User['member'],
	): Promise<void> {
		if (count + brought <= maxVersions) return;
		const all = await this.#parts.versions.of(ownerId, file);
		// Of what members have pushed over the limit no more goes at once than one replacement adds, and one.
		const least = Math.max(all.length - 1 - brought, brought) - 1;
		const ended = await superfluous(all, maxVersions, { member: member?.id, least });
		if (ended.length > 0) await this.#bin.endSuperfluous(ended, member?.username);
	}

	async #count(ownerId: string, path: StoragePath): Promise<number> {
		let count = 0;
		await this.#parts.versions.countsWithin(ownerId, path, async (files) => {
			for (const file of files) count += file.count;
		});
		return count;
	}
}

function mostBefore({ kind }: NewContent, there: number, brought: number): number {
	if (kind === 'written') return mostWritten;
	// One more is added by the replacement itself.
	return there > 0 && brought > 0 ? maxVersions - 1 : mostJoined;
}
