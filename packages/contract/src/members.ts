import { maxMembers, memberRoles } from '@stowage/rules';
import { z } from 'zod';
import { endpoint } from './define.js';
import { itemPath, listOf, message, path } from './schemas.js';

const member = z.strictObject({ username: z.string().max(64), role: z.enum(memberRoles) });
const members = z.object({ members: z.array(member) });

/** Makes these, and nobody else, the members of a folder of the caller's private area. */
export const setMembers = endpoint({
	method: 'PUT',
	path: '/api/members',
	audience: 'user',
	payload: z.strictObject({ path, members: listOf(member, maxMembers) }),
	maxPayloadBytes: 256 * 1024,
	result: members.extend({ path: z.string() }),
});

/**
 * The members of a folder: of the caller's own, else of one that is shared with the caller, by its path there. `type`
 * says which is meant.
 */
export const getMembers = endpoint({
	method: 'GET',
	path: '/api/members',
	audience: 'user',
	query: z.object({ path: itemPath, type: z.enum(['private', 'shared']).optional() }),
	result: members,
});

/**
 * What members have changed in folders of the caller's in the last 30 days, by items, the latest first: what is done
 * with pauses under an hour is one.
 */
export const listMemberChanges = endpoint({
	method: 'GET',
	path: '/api/members/changes',
	audience: 'user',
	result: z.object({
		changes: z.array(
			z.object({
				id: z.string(),
				/** What the folder and the member were called. */
				folder: z.string(),
				member: z.string(),
				added: z.number(),
				changed: z.number(),
				removed: z.number(),
				begunAt: z.number(),
				endedAt: z.number(),
			}),
		),
	}),
});

/** The caller leaves a folder that is shared with them, by its path there. */
export const leaveFolder = endpoint({
	method: 'DELETE',
	path: '/api/members',
	audience: 'user',
	query: z.object({ path: itemPath }),
	result: message,
});
