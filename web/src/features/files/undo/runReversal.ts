import { deleteItem, moveItem, renameItem } from '@stowage/contract';
import {
	type Area,
	baseName,
	Failure,
	failureKind,
	isFailure,
	parentPath,
	parsePath,
	type StoragePath,
} from '@stowage/rules';
import { call } from '../../../api/client/client.js';
import { restoreFromTrash } from '../../../api/trash.js';
import { fetchVersions, restoreVersion } from '../../../api/versions.js';
import { folderName } from '../location/folderTitle.js';
import { filesMessages as messages, nameItems } from '../messages.js';
import type { RunBatch } from '../operations/useBatch.js';
import type { Reversal } from './undoStack.js';

export interface Reverted {
	/** The items under the names that they have now. */
	done: readonly { name: string }[];
	/** Why the others could not be taken back, a sentence for each. */
	reasons: readonly string[];
	/** What may succeed later; undefined for nothing. */
	left: Reversal | undefined;
	isCancelled: boolean;
}

/** Takes an operation of a user back: what was done last first. An item that fails does not stop the others. */
export function runReversal(reversal: Reversal, username: string, runBatch: RunBatch): Promise<Reverted> {
	const ownerIn = (area: Area) => (area === 'public' ? { owner: username } : {});
	switch (reversal.kind) {
		case 'restore':
			return restore(reversal, runBatch);
		case 'moveBack':
			return revertEach(reversal, runBatch, async ({ area, path, before }, signal) => {
				const payload = { fromPath: path, toPath: before, type: area, ...ownerIn(area) };
				return (await call(moveItem, { payload, signal })).entry.name;
			});
		case 'renameBack':
			return revertEach(reversal, runBatch, async ({ area, path, before }, signal) => {
				const payload = { oldPath: path, newName: before, type: area, ...ownerIn(area) };
				return (await call(renameItem, { payload, signal })).entry.name;
			});
		case 'discard':
			return revertEach(reversal, runBatch, async ({ area, path, name }, signal) => {
				await call(deleteItem, { payload: { filePath: path, type: area, ...ownerIn(area) }, signal });
				return name;
			});
		case 'restoreVersions':
			return revertEach(reversal, runBatch, async ({ area, path, name, size, mtime }, signal) => {
				const versions = await fetchVersions(area, path, signal);
				const version = versions.find((former) => former.size === size && former.mtime === mtime);
				if (!version) throw new Failure('expired', messages.versionGone(name));
				return (await restoreVersion(area, path, version.id, signal)).name;
			});
		case 'restoreBack':
			return revertEach(reversal, runBatch, async ({ area, path, name, version }, signal) => {
				try {
					return (await restoreVersion(area, path, version, signal)).name;
				} catch (error) {
					// The file is there, or is not: the version is what tells.
					throw isFailure(error, 'notFound') ? new Failure('expired', messages.versionGone(name)) : error;
				}
			});
	}
}

async function restore(reversal: Extract<Reversal, { kind: 'restore' }>, runBatch: RunBatch): Promise<Reverted> {
	const items = reversal.items.toReversed();
	const errors = new Map<string, unknown>();
	let done: { name: string }[] = [];
	const outcome = await runBatch(messages.undoing(nameItems(items)), [items], async (all, signal) => {
		const { restored, failed } = await restoreFromTrash(
			all.map(({ trashId }) => trashId),
			signal,
		);
		done = restored.map(({ path }) => ({ name: baseName(parsePath(path)) }));
		for (const { id, code, message } of failed) errors.set(id, new Failure(failureKind(code) ?? 'invalid', message));
	});
	if (outcome.failed.length > 0 || outcome.isCancelled) {
		const error = outcome.reason;
		return {
			done,
			reasons: error instanceof Error ? [error.message] : [],
			left: mayRetry(error) ? reversal : undefined,
			isCancelled: outcome.isCancelled,
		};
	}
	const failed = items.filter(({ trashId }) => errors.has(trashId));
	return {
		done,
		reasons: failed.map(({ name, trashId }) => {
			const error = errors.get(trashId);
			return isFailure(error, 'notFound') ? messages.notInTrash(name) : messageOf(error);
		}),
		left: leftOf(
			reversal,
			failed.filter(({ trashId }) => mayRetry(errors.get(trashId))),
		),
		isCancelled: false,
	};
}

type Located = Exclude<Reversal, { kind: 'restore' }>;

async function revertEach<R extends Located>(
	reversal: R,
	runBatch: RunBatch,
	send: (item: R['items'][number], signal: AbortSignal) => Promise<string>,
): Promise<Reverted> {
	type Item = R['items'][number];
	const items: readonly Item[] = reversal.items.toReversed();
	const names = new Map<Item, string>();
	const errors = new Map<Item, unknown>();
	const outcome = await runBatch(messages.undoing(nameItems(items)), items, async (item, signal) => {
		try {
			names.set(item, await send(item, signal));
		} catch (error) {
			errors.set(item, error);
			throw error;
		}
	});
	const left = items.filter((item) => !names.has(item) && mayRetry(errors.get(item)));
	const failed = outcome.isCancelled ? [] : items.filter((item) => errors.has(item));
	return {
		done: [...names.values()].map((name) => ({ name })),
		reasons: failed.map((item) => {
			const error = errors.get(item);
			return isFailure(error, 'notFound') ? messages.notThere(item.name, folderOf(item)) : messageOf(error);
		}),
		left: leftOf(reversal, left),
		isCancelled: outcome.isCancelled,
	};
}

function leftOf(reversal: Reversal, items: readonly unknown[]): Reversal | undefined {
	// In their order again.
	return items.length === 0 ? undefined : ({ ...reversal, items: items.toReversed() } as Reversal);
}

function folderOf({ area, path }: { area: Area; path: StoragePath }): string {
	return folderName(area, parentPath(path));
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** Whether an error says nothing about the item. Without one it was not tried: it was cancelled, or the session has ended. */
function mayRetry(error: unknown): boolean {
	if (error === undefined) return true;
	return !isFailure(error) || error.status >= 500 || retried.has(error.kind);
}

const retried: ReadonlySet<Failure['kind']> = new Set(['rateLimited', 'locked', 'notSignedIn']);
