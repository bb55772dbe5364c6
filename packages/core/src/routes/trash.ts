import * as contract from '@stowage/contract';
import { type Request, route } from '@stowage/plugin-api';
import { baseName, Failure, isFailure, type Viewer } from '@stowage/rules';
import { clientGone } from '../http/connections/clientGone.js';
import { clientKey } from '../http/requests/proxy.js';
import type { Services } from '../services.js';

/** The trash of the caller's home. */
export function trashRoutes({ trash, walkQueue }: Services) {
	/** Runs work on many items when it is the client's turn. */
	const queued = <T>(viewer: Viewer, request: Request, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
		const signal = clientGone(request);
		return walkQueue.run(clientKey(viewer, request.client.address), () => work(signal), signal);
	};
	return [
		route(contract.listTrash, async ({ viewer, request }) => {
			const { items, ...listing } = await queued(viewer, request, () => trash.list(viewer));
			const { keepFor } = trash;
			const entries = items.map(({ id, path, type, size, deletedAt, deletedBy }) => ({
				id,
				name: baseName(path),
				path,
				type,
				size: size?.bytes ?? 0,
				deletedAt,
				expiresAt: deletedAt + keepFor,
				deletedBy,
			}));
			return { entries, keepFor, ...listing };
		}),

		route(contract.restoreTrash, ({ viewer, payload, request }) =>
			queued(viewer, request, async (signal) => {
				const restored: { id: string; path: string }[] = [];
				const failed: { id: string; code: string; message: string }[] = [];
				for (const id of payload.ids) {
					signal.throwIfAborted();
					try {
						restored.push({ id, path: (await trash.restore(viewer, id)).path });
					} catch (error) {
						if (!isFailure(error)) throw error;
						failed.push({ id, code: error.code, message: error.message });
					}
				}
				return { restored, failed };
			}),
		),

		route(contract.purgeTrash, async ({ viewer, params }) => {
			const { id = '' } = params;
			if (!/^[0-9a-f]{32}$/.test(id)) throw new Failure('notFound', 'This is not in the trash any more.');
			await trash.purge(viewer, id);
			return { message: 'Deleted forever.' };
		}),

		route(contract.emptyTrash, async ({ viewer }) => {
			await trash.empty(viewer);
			return { message: 'The trash is empty.' };
		}),
	];
}
