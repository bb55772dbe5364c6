import * as contract from '@stowage/contract';
import { route, type TrashedItem, Yielder } from '@stowage/plugin-api';
import { baseName, Failure, isFailure } from '@stowage/rules';
import type { Services } from '../../services.js';
import { changeRoutes } from '../changeRoutes.js';
import { arrayText, queued } from '../queued.js';

/** The trash of the caller's home. */
export function trashRoutes(services: Services) {
	const { trash } = services;
	const change = changeRoutes(services);
	return [
		route(contract.listTrash, async ({ viewer, request, h }) => {
			const { keepFor } = trash;
			const text = await queued(services, viewer, request, async (signal, turn) => {
				const { items, ...listing } = await trash.list(viewer);
				const textOf = (item: TrashedItem) => JSON.stringify(entryOf(item, keepFor));
				const entries = await arrayText(items, textOf, new Yielder(turn), signal);
				return `${JSON.stringify({ keepFor, ...listing }).slice(0, -1)},"entries":${entries}}`;
			});
			return h.response(text).type('application/json');
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

function entryOf({ id, path, type, size, deletedAt, deletedBy }: TrashedItem, keepFor: number) {
	return {
		id,
		name: baseName(path),
		path,
		type,
		size: size?.bytes ?? 0,
		deletedAt,
		expiresAt: deletedAt + keepFor,
		deletedBy,
	};
}
