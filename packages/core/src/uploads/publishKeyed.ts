import { createHash } from 'node:crypto';
import type { Files, ItemRef, PublishRequest } from '@stowage/plugin-api';
import { type Entry, Failure, isFailure, type Viewer } from '@stowage/rules';
import type { Audit } from '../audit/createAudit.js';
import { treeOf } from '../files/places.js';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import type { MountedStorage } from '../storage/MountedStorage.js';

interface Dependencies {
	files: Files;
	storage: MountedStorage;
	audit: Pick<Audit, 'unrecorded'>;
}

/** Somebody else may note a try of theirs between our looks; more often than this is no accident. */
const mostTries = 3;

/** Tries with the same key that come to this process at once need not look for each other. */
const exclusively = createKeyedMutex();

/**
 * Publishes files that may have been sent before under the same key, by a try whose answer was lost: what that one published is found, and there is no second.
 * Before anything is published the staged file is noted under the key, so that this holds after a crash as well.
 */
export function publishKeyed(
	{ files, storage, audit }: Dependencies,
	viewer: Viewer,
	folder: ItemRef,
	requests: readonly PublishRequest[],
	key: string,
): Promise<Entry[]> {
	/** What an earlier try published. If it has not yet, it never will. */
	const findEarlier = async (stagedId: string, { name }: PublishRequest): Promise<Entry | undefined> => {
		try {
			const staged = await storage.stage(stagedId);
			await staged.discard();
			// The try that published it has said so.
			return await audit.unrecorded(() => files.publishOnce(viewer, folder, { staged, name }));
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
			return undefined;
		}
	};

	const earlierTry = async (request: PublishRequest, note: string): Promise<Entry | undefined> => {
		for (let tries = 0; tries < mostTries; tries++) {
			const noted = await storage.note(note, request.staged.id, treeOf(viewer));
			if (noted === request.staged.id) return undefined;
			const found = await findEarlier(noted, request);
			if (found !== undefined) return found;
			await storage.forgetNote(note, treeOf(viewer));
		}
		throw new Failure('locked', 'The same upload is being sent by somebody else right now.', { retryAfter: 1 });
	};

	return exclusively(`${whoOf(viewer)} ${key}`, async () => {
		const earlier = await Promise.all(
			requests.map((request, index) => earlierTry(request, noteKey(viewer, key, index))),
		);
		const isNew = (_: unknown, index: number) => earlier[index] === undefined;
		await Promise.all(requests.filter((_, index) => !isNew(_, index)).map(({ staged }) => staged.discard()));
		const published = await files.publish(viewer, folder, requests.filter(isNew));
		return earlier.map((entry) => entry ?? (published.shift() as Entry));
	});
}

function noteKey(viewer: Viewer, key: string, index: number): string {
	return createHash('sha256')
		.update(`${whoOf(viewer)} ${index} ${key}`)
		.digest('hex');
}

function whoOf(viewer: Viewer): string {
	return viewer.kind === 'user' ? viewer.id : '';
}
