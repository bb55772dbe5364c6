import type { VersionedFile } from '@stowage/plugin-api';
import { Failure, homeRoot, relativePath, type StoragePath, type User } from '@stowage/rules';
import type { TrashBin } from '../TrashBin.js';
import type { NewContent, TrashParts } from '../trashParts.js';
import { alternatingFactor, superfluous } from './superfluous.js';

/** Versions of one file. */
const maxVersions = 50;

/**
 * With so many contents of which no member is known to have written them a member adds no other one, whatever is written over it. Members
 * bring none themselves: there are more than those that members take turns in only where older servers or other programs have written them.
 */
const mostUnknown = (alternatingFactor + 1) * maxVersions;

/** The content that a file has, and who is known to have written it. */
export interface FileContent {
	/** The identity of the file. */
	file: string;
	writtenBy: string | undefined;
}

/**
 * How many versions one file has. A member of a folder ends none but those that this member has written. So what a member brings to a file
 * must give way itself, or what it is joined to would be pushed out by the owner's next replacement.
 */
export class VersionLimit {
	readonly #parts: Pick<TrashParts, 'versions'>;
	readonly #bin: Pick<TrashBin, 'endSuperfluous'>;

	constructor(parts: Pick<TrashParts, 'versions'>, bin: Pick<TrashBin, 'endSuperfluous'>) {
		this.#parts = parts;
		this.#bin = bin;
	}

	/**
	 * Called right before a file is replaced, `former`, maybe by what is `moved` onto it. Throws `forbidden` where a member would join
	 * contents of two files that this member can't end to more than one may have, or adds one to a file that has too many: other files
	 * have room. Resolves to how many versions the new content brings.
	 */
	async assertRoom(
		{ id, username, member }: User,
		former: FileContent & Pick<VersionedFile, 'path'>,
		content: NewContent,
		moved: FileContent | undefined,
	): Promise<number> {
		const from = content.kind === 'moved' ? relativePath(content.from, homeRoot(username)) : undefined;
		const brought = from === undefined ? 0 : await this.#count(id, from);
		if (member === undefined || content.kind === 'restored') return brought;
		// With what both files have now.
		if ((await this.#count(id, former.path)) + brought + 2 <= maxVersions) return brought;
		const there = await this.#writers(id, former, former.path);
		const joined = from === undefined || moved === undefined ? [] : await this.#writers(id, moved, from);
		const othersOf = (writers: Writers) => writers.filter((writer) => writer !== member.id).length;
		const [ofThese, ofThose] = [othersOf(there), othersOf(joined)];
		const areJoined = ofThese > 0 && ofThose > 0 && ofThese + ofThose > maxVersions;
		const isFull = former.writtenBy === undefined && there.slice(1).filter(isUnknown).length > mostUnknown;
		if (!areJoined && !isFull) return brought;
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

	/** Who has written what a file has and had. */
	async #writers(ownerId: string, { file, writtenBy }: FileContent, path: StoragePath): Promise<Writers> {
		const versions = await this.#parts.versions.of(ownerId, { file, path });
		return [writtenBy, ...versions.map((version) => version.writtenBy)];
	}

	async #count(ownerId: string, path: StoragePath): Promise<number> {
		let count = 0;
		await this.#parts.versions.countsWithin(ownerId, path, async (files) => {
			for (const file of files) count += file.count;
		});
		return count;
	}
}

/** The member who has written each of some contents, if one is known: of what the file has first. */
type Writers = readonly (string | undefined)[];

const isUnknown = (writer: string | undefined) => writer === undefined;
