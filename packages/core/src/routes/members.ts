import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { signedIn } from '@stowage/rules';
import type { Services } from '../services.js';
import { changeRoutes } from './changeRoutes.js';
import { listed } from './queued.js';

/** Lines of what members have changed that are listed. */
const maxChanges = 100;

/** The members of folders. */
export function memberRoutes(services: Services) {
	const { database, members } = services;
	const change = changeRoutes(services);
	return [
		change(contract.setMembers, async ({ viewer, payload }) => ({
			path: payload.path,
			members: (await members.set(viewer, payload.path, payload.members)).members,
		})),

		route(contract.getMembers, async ({ viewer, query, request }) => ({
			// A thousand may be members.
			members: await listed(services, viewer, request, () => members.list(viewer, query.path, query.type)),
		})),

		route(contract.listMemberChanges, async ({ viewer, request }) => ({
			changes: await listed(services, viewer, request, () => database.members.changes(signedIn(viewer).id, maxChanges)),
		})),

		change(contract.leaveFolder, async ({ viewer, query }) => {
			await members.leave(viewer, query.path);
			return { message: 'You have left the folder.' };
		}),
	];
}
