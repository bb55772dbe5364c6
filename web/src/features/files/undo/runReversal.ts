import { deleteItem, moveItem, renameItem } from '@stowage/contract';
import { type Area, Failure, failureKind, isFailure, parentPath, type StoragePath } from '@stowage/rules';
import { call } from '../../../api/client/client.js';
import { fetchVersions, restoreVersion } from '../../../api/versions.js';
import { folderName } from '../location/folderTitle.js';
import { nameItems } from '../messages.js';
import { restoreItems } from '../operations/restoreItems.js';
import type { RunBatch } from '../operations/useBatch.js';
import { restoredItems } from '../trash/restoreOutcome.js';
import { undoMessages } from './messages.js';
import type { Reversal } from './undoStack.js';

export interface Reverted {
	/** The items under the names that they have now. */
	done: readonly { name: string }[];
	/** Why the others could not be taken back, a sentence for each. */
	reasons: readonly string[];
	/** What may succeed later; undefined for nothing. */
	left: Reversal | undefined;
	/** How many were not begun, since it was cancelled. */
	notStarted: number;
}

/** Takes an operation of a user back: what was done last first. An item that fails does not stop the others. */
export function runReversal(reversal: Reversal, username: string, runBatch: RunBatch): Promise<Reverted> {
	const ownerIn = (area: Area) => (area === 'public' ? { owner: username } : {});
	switch (reversal.kind) {
		case 'restore':
			return restore(reversal, runBatch);
		case 'moveBack':
			return revertEach(reversal, runBatch, async ({ area, path, before }) => {
				const payload = { fromPath: path, toPath: before, type: area, ...ownerIn(area) };
				return (await call(moveItem, { payload })).entry.name;
			});
		case 'renameBack':
			return revertEach(reversal, runBatch, async ({ area, path, before }) => {
				const payload = { oldPath: path, newName: before, type: area, ...ownerIn(area) };
				return (await call(renameItem, { payload })).entry.name;
			});
		case 'discard':
			return revertEach(reversal, runBatch, async ({ area, path, name }) => {
				// It was offered since they go to the trash.
				await call(deleteItem, { payload: { filePath: path, type: area, permanent: false, ...ownerIn(area) } });
				return name;
			});
		case 'restoreVersions':
			return revertEach(reversal, runBatch, async ({ area, path, name, size, mtime }) => {
				const versions = await fetchVersions(area, path);
				const version = versions.find((former) => former.size === size && former.mtime === mtime);
				if (!version) throw new Failure('expired', undoMessages.versionGone(name));
				return (await restoreVersion(area, path, version.id)).name;
			});
		case 'restoreBack':
			return revertEach(reversal, runBatch, async ({ area, path, name, version }) => {
				try {
					return (await restoreVersion(area, path, version)).name;
				} catch (error) {
					// The file is there, or is not: the version is what tells.
					throw isFailure(error, 'notFound') ? new Failure('expired', undoMessages.versionGone(name)) : error;
				}
			});
	}
}

async function restore(reversal: Extract<Reversal, { kind: 'restore' }>, runBatch: RunBatch): Promise<Reverted> {
	const items = reversal.items.toReversed();
	const title = undoMessages.undoing(nameItems(items));
	const outcome = await restoreItems(runBatch, title, items, ({ trashId }) => trashId);
	const errors = new Map(
		outcome.failed.map(({ id, code, message }) => [id, new Failure(failureKind(code) ?? 'invalid', message)]),
	);
	const failed = items.filter(({ trashId }) => errors.has(trashId));
	const untried = new Set([...outcome.left, ...(mayRetry(outcome.reason) ? outcome.unanswered : [])]);
	return {
		done: restoredItems(outcome),
		reasons: [
			...failed.map(({ name, trashId }) => {
				const error = errors.get(trashId);
				return isFailure(error, 'notFound') ? undoMessages.notInTrash(name) : messageOf(error);
			}),
			...(outcome.unanswered.length > 0 ? [messageOf(outcome.reason)] : []),
		],
		left: leftOf(
			reversal,
			items.filter((item) => untried.has(item) || (errors.has(item.trashId) && mayRetry(errors.get(item.trashId)))),
		),
		notStarted: outcome.left.length,
	};
}

type Located = Exclude<Reversal, { kind: 'restore' }>;

async function revertEach<R extends Located>(
	reversal: R,
	runBatch: RunBatch,
	send: (item: R['items'][number]) => Promise<string>,
): Promise<Reverted> {
	type Item = R['items'][number];
	const items: readonly Item[] = reversal.items.toReversed();
	const names = new Map<Item, string>();
	const errors = new Map<Item, unknown>();
	const outcome = await runBatch(undoMessages.undoing(nameItems(items)), items, async (item) => {
		try {
			names.set(item, await send(item));
		} catch (error) {
			errors.set(item, error);
			throw error;
		}
	});
	const left = items.filter((item) => !names.has(item) && mayRetry(errors.get(item)));
	const failed = items.filter((item) => errors.has(item));
	return {
		done: [...names.values()].map((name) => ({ name })),
		reasons: failed.map((item) => {
			const error = errors.get(item);
			return isFailure(error, 'notFound') ? undoMessages.notThere(item.name, folderOf(item)) : messageOf(error);
		}),
		left: leftOf(reversal, left),
		notStarted: outcome.left.length,
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
