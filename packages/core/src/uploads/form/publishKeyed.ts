import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Files, IdempotencyRecord, IdempotencyStore, ItemRef, PublishRequest } from '@stowage/plugin-api';
import { type Entry, Failure, isFailure, type Viewer } from '@stowage/rules';
import type { createKeyedMutex } from '../../limits/keyedMutex.js';
import { discardAll } from './receiveForm.js';

interface Dependencies {
	files: Files;
	idempotency: IdempotencyStore;
	/** Concurrent attempts with the same key in this process are serialized. */
	exclusively: ReturnType<typeof createKeyedMutex>;
}

/** Each process may change the record once between our reads; more often is no coincidence. */
const maxRounds = 20;

/** Milliseconds for which an attempt whose files were taken over waits for the entries of the other one. */
const waitMs = 10_000;
const pollMs = 50;

/**
 * Publishes files that may have been sent before, or are being sent to another process, under the same key. The record
 * of the key says which staged files are published. An attempt that finds the record of another one removes its
 * unpublished files from staging, so that they can't be published any more, and the files of the newer attempt take
 * its place in the record. So it makes no difference whether the other one has ended, has died or is running: then it
 * finds its files removed, and answers with the newer one's entries. Bytes that were not confirmed as durable are
 * never published by another process.
 */
export function publishKeyed(
	{ files, idempotency, exclusively }: Dependencies,
	viewer: Viewer,
	folder: ItemRef,
	requests: readonly PublishRequest[],
	key: string,
): Promise<Entry[]> {
	const keyHash = hashOf(viewer, key);
	const own = new Map(requests.map((request) => [request.staged.id, request]));

	const findAllPublished = (ids: readonly string[]): Promise<(Entry | undefined)[]> =>
		Promise.all(
			requests.map(async ({ name }, index) => {
				const id = ids[index];
				return id === undefined || id === '' ? undefined : files.findPublished(viewer, folder, id, name);
			}),
		);

	/** Removes from staging the files that another attempt has not published. */
	const takeOver = async (ids: readonly string[]): Promise<void> => {
		for (const id of ids) if (id !== '' && !own.has(id)) await discardStaged(files, viewer, id);
	};

	/** Publishes the files of this attempt in the record. Returns undefined if another one has taken it over. */
	const publish = async (record: IdempotencyRecord, mine: readonly PublishRequest[]): Promise<Entry[] | undefined> => {
		let isTaken = false;
		const mayRollBack = async ({ staged }: PublishRequest): Promise<boolean> => {
			isTaken = !(await isStaged(staged));
			const undone = newRecord(record.stagedIds.map((id) => (own.has(id) ? '' : id)));
			// An attempt that has replaced the record meanwhile may answer with the published entries.
			return idempotency.replace(keyHash, record.revision, undone);
		};
		try {
			return await files.publish(viewer, folder, mine, { mayRollBack });
		} catch (error) {
			if (!isTaken) throw error;
			return undefined;
		}
	};

	/** The entries of the attempt that took over the files of this one. */
	const waitForEntries = async (): Promise<Entry[]> => {
		for (let waited = 0; waited < waitMs; waited += pollMs) {
			const { stagedIds } = await idempotency.putIfAbsent(keyHash, newRecord([...own.keys()]));
			const found = await findAllPublished(stagedIds);
			if (!found.includes(undefined)) return found as Entry[];
			await wait(pollMs);
		}
		throw beingSent();
	};

	return exclusively(keyHash, async () => {
		for (let round = 0; round < maxRounds; round++) {
			let record = await idempotency.putIfAbsent(keyHash, newRecord([...own.keys()]));
			// An attempt that replaces a record has removed its files before: those of this attempt, if it was the first to have one.
			const isOwn = record.stagedIds.some((id) => own.has(id));
			if (!isOwn && !(await areStaged(requests))) return waitForEntries();
			await takeOver(record.stagedIds);
			const found = await findAllPublished(record.stagedIds.map((id) => (own.has(id) ? '' : id)));
			const isMissing = ({ staged }: PublishRequest, index: number) =>
				found[index] === undefined && record.stagedIds[index] !== staged.id;
			if (requests.some(isMissing)) {
				const next = newRecord(
					requests.map((request, index) =>
						isMissing(request, index) ? request.staged.id : (record.stagedIds[index] as string),
					),
				);
				if (!(await idempotency.replace(keyHash, record.revision, next))) continue;
				record = next;
			}
			const mine = requests.filter((_, index) => found[index] === undefined);
			await discardAll(requests.filter((_, index) => found[index] !== undefined));
			const published = mine.length === 0 ? [] : await publish(record, mine);
			if (published === undefined) return waitForEntries();
			return found.map((entry) => entry ?? (published.shift() as Entry));
		}
		throw beingSent();
	});
}

function newRecord(stagedIds: readonly string[]): IdempotencyRecord {
	return { stagedIds, revision: randomUUID() };
}

async function discardStaged(files: Files, viewer: Viewer, id: string): Promise<void> {
	try {
		await (await files.stage(viewer, id)).discard();
	} catch (error) {
		// A staged file of a root that no longer exists.
		if (!isFailure(error, 'notFound')) throw error;
	}
}

async function areStaged(requests: readonly PublishRequest[]): Promise<boolean> {
	const found = await Promise.all(requests.map(({ staged }) => isStaged(staged)));
	return !found.includes(false);
}

async function isStaged(staged: PublishRequest['staged']): Promise<boolean> {
	try {
		await staged.size();
		return true;
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		return false;
	}
}

function beingSent(): Failure {
	return new Failure('locked', 'The same upload is being sent by somebody else right now.', { retryAfter: 1 });
}

function hashOf(viewer: Viewer, key: string): string {
	const who = viewer.kind === 'user' ? viewer.id : '';
	return createHash('sha256').update(`form ${who} ${key}`).digest('hex');
}
