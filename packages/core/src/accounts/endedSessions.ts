import type { SessionStore } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';

const retryMs = 10_000;

/** Ends sessions for certain: one whose row can't be deleted right now is refused until it can. */
export interface EndedSessions {
	has(idHash: string): boolean;
	/** Ends the session at once, and deletes its row as soon as the database accepts that. A restart before that loses this refusal. */
	end(idHash: string): Promise<void>;
	/** Tries once more to delete the remaining rows. */
	close(): Promise<void>;
}

/** `onFault` is called with errors that no caller waits for. */
export function createEndedSessions(
	store: Pick<SessionStore, 'remove'>,
	onFault: (error: unknown) => void,
): EndedSessions {
	const ended = new Set<string>();
	let timer: NodeJS.Timeout | undefined;

	const remove = async (idHash: string): Promise<void> => {
		try {
			await store.remove(idHash);
			ended.delete(idHash);
		} catch (error) {
			// On a full or read-only disk sessions can still be read, so this refusal is the only one.
			if (!isFailure(error, 'storageFull') && !isFailure(error, 'unavailable')) throw error;
		}
	};
	const retry = async (): Promise<void> => {
		for (const idHash of [...ended]) await remove(idHash);
	};
	const retryLater = (): void => {
		if (ended.size === 0) return;
		timer ??= setTimeout(() => {
			timer = undefined;
			retry().catch(onFault).finally(retryLater);
		}, retryMs).unref();
	};
	return {
		has: (idHash) => ended.has(idHash),
		async end(idHash) {
			ended.add(idHash);
			try {
				await remove(idHash);
			} finally {
				retryLater();
			}
		},
		async close() {
			clearTimeout(timer);
			await retry();
		},
	};
}
