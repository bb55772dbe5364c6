import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import type { Services } from '../services.js';

/** The members of folders. */
export function memberRoutes({ members }: Services) {
	return [
		route(contract.setMembers, async ({ viewer, payload }) => ({
			path: payload.path,
			members: await members.set(viewer, payload.path, payload.members),
		})),

		route(contract.getMembers, async ({ viewer, query }) => ({
			members: await members.list(viewer, query.path, query.type),
		})),

		route(contract.leaveFolder, async ({ viewer, query }) => {
			await members.leave(viewer, query.path);
			return { message: 'You have left the folder.' };
		}),
	];
}
