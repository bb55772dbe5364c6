import {
	getMembers,
	leaveFolder as leaveFolderEndpoint,
	listMemberChanges,
	type ResultOf,
	setMembers,
} from '@stowage/contract';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client/client.js';
import { whileOnline } from './client/retries.js';
import { queryKeys } from './queryKeys.js';

export type Member = ResultOf<typeof getMembers>['members'][number];

/** The members of a folder of the user's private area. */
export function membersQuery(path: string) {
	return queryOptions({
		queryKey: queryKeys.members(path),
		queryFn: ({ signal }) => fetchMembers(path, signal),
		staleTime: 0,
		gcTime: 0,
		retry: 1,
	});
}

/** What one member has changed in a folder of the signed-in user in one go. */
export type MemberChange = ResultOf<typeof listMemberChanges>['changes'][number];

/** What members have changed in the folders of the signed-in user, the latest first. */
export const memberChangesQuery = queryOptions({
	queryKey: queryKeys.memberChanges,
	queryFn: async ({ signal }) => (await call(listMemberChanges, { signal })).changes,
	staleTime: 0,
	gcTime: 0,
	refetchInterval: whileOnline(15_000),
	retry: 1,
});

/**
 * Changes the members of such a folder and resolves to these, under their names as they are registered. The server
 * takes whole lists, so the change is made to the one that it has now: another page may have changed it meanwhile.
 */
export async function changeMembers(
	path: string,
	change: (members: readonly Member[]) => readonly Member[],
): Promise<Member[]> {
	const members = change(await fetchMembers(path));
	return (await call(setMembers, { payload: { path, members: [...members] } })).members;
}

async function fetchMembers(path: string, signal?: AbortSignal): Promise<Member[]> {
	const query = { path, type: 'private' } as const;
	return (await call(getMembers, { query, ...(signal ? { signal } : {}) })).members;
}

/** Ends the user's membership of a folder, by its path in the area of shared ones. */
export async function leaveFolder(path: string): Promise<void> {
	await call(leaveFolderEndpoint, { query: { path } });
}
