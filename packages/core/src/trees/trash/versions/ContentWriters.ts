import type { StorageItem } from '@stowage/plugin-api';
import { isFailure, type StoragePath, type User } from '@stowage/rules';
import { contentOf, identityOf } from '../../identity.js';
import type { HomeStorage } from '../../storage/HomeStorage.js';
import { type NewContent, type TrashParts, warnOfTrash } from '../trashParts.js';
import type { FileContent } from './VersionLimit.js';

/** How long it is known of a file without versions which member has created it: as long as a deleted file can be put back by default. */
const creatorKnownMs = 30 * 24 * 60 * 60_000;

/** Which member of a folder is known to have written a content. What nobody is known for, as all that was there before, is the owner's. */
export class ContentWriters {
	readonly #parts: Pick<TrashParts, 'versions' | 'creators' | 'log'>;

	constructor(parts: Pick<TrashParts, 'versions' | 'creators' | 'log'>) {
		this.#parts = parts;
	}

	/** Notes that a member has created a file with a content of their own. */
	async created(ownerId: string, member: NonNullable<User['member']>, made: StorageItem): Promise<void> {
		try {
			await this.#parts.creators.set(creatorKey(ownerId, made), member.id, creatorKnownMs);
		} catch (error) {
			// It counts as the owner's then.
			if (!isFailure(error, 'storageFull')) warnOfTrash(this.#parts, error);
		}
	}

	/** The member who is known to have written what a file has. */
	async of(ownerId: string, item: StorageItem, { isCreatorSought = true } = {}): Promise<string | undefined> {
		const { versions, creators } = this.#parts;
		const isBeginning = item.contentVersion !== undefined;
		const writer = await versions.writerOf(ownerId, identityOf(item), contentOf(item), { isBeginning });
		if (writer !== undefined || !isCreatorSought) return writer;
		const creator = await creators.get(creatorKey(ownerId, item));
		return typeof creator === 'string' ? creator : undefined;
	}

	/** The member who is known to have written a new content; `moved` is what was to be moved, before. */
	async ofNew(
		{ id, member }: User,
		content: NewContent,
		made: StorageItem,
		moved: FileContent | undefined,
	): Promise<string | undefined> {
		switch (content.kind) {
			case 'written':
				return member?.id;
			case 'restored':
				return content.writtenBy;
			case 'moved':
				// Another one may have come to its path since.
				return moved?.file === identityOf(made) ? moved.writtenBy : this.of(id, made);
		}
	}

	/** What is at a path of the storage, to be moved. Throws `notFound`. */
	async at(ownerId: string, storage: HomeStorage, path: StoragePath): Promise<FileContent> {
		const item = await storage.stat(path);
		return { file: identityOf(item), writtenBy: await this.of(ownerId, item) };
	}
}

const creatorKey = (ownerId: string, item: StorageItem) => `${ownerId} ${contentOf(item)}`;
