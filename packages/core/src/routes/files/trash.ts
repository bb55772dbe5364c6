import * as contract from '@stowage/contract';
import { route, Yielder } from '@stowage/plugin-api';
import { baseName, Failure, isFailure } from '@stowage/rules';
import type { Services } from '../../services.js';
import { changeRoutes } from '../changeRoutes.js';
import { queued } from '../queued.js';

/** The trash of the caller's home. */
export function trashRoutes(services: Services) {
	const { trash } = services;
	const change = changeRoutes(services);
	return [
		route(contract.listTrash, async ({ viewer, request }) => {
			const { items, ...listing } = await queued(services, viewer, request, () => trash.list(viewer));
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
			queued(services, viewer, request, async (signal, turn) => {
				const yielder = new Yielder(turn);
				const restored: { id: string; path: string }[] = [];
				const failed: { id: string; code: string; message: string }[] = [];
				for (const id of payload.ids) {
					signal.throwIfAborted();
					if (yielder.shouldYield) await yielder.yield(signal);
					try {
						restored.push({ id, path: (await trash.restore(viewer, id)).entry.path });
					} catch (error) {
						if (!isFailure(error)) throw error;
						failed.push({ id, code: error.code, message: error.message });
					}
				}
				return { restored, failed };
			}),
		),

		change(contract.purgeTrash, async ({ viewer, params }) => {
			const { id = '' } = params;
			if (!/^[0-9a-f]{32}$/.test(id)) throw new Failure('notFound', 'This is not in the trash any more.');
			await trash.purge(viewer, id);
			return { message: 'Deleted forever.' };
		}),

		change(contract.emptyTrash, async ({ viewer }) => {
			await trash.empty(viewer);
			return { message: 'The trash is empty.' };
		}),
	];
}
