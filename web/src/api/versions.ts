import * as contract from '@stowage/contract';
import type { Area, Entry } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { call, endpointUrl } from './client/client.js';
import { queryKeys } from './queryKeys.js';

/** A former content of a file. */
export type Version = contract.ResultOf<typeof contract.listVersions>['versions'][number];

/** The former contents of a file of the signed-in user, the newest first. */
export function versionsQuery(area: Area, path: string) {
	return queryOptions({
		queryKey: queryKeys.versions.of(area, path),
		queryFn: ({ signal }) => fetchVersions(area, path, signal),
		// They are opened seldom and must be current then.
		staleTime: 0,
		gcTime: 0,
		retry: 1,
	});
}

export async function fetchVersions(area: Area, path: string, signal?: AbortSignal): Promise<Version[]> {
	const options = { params: { path }, query: { type: area }, ...(signal ? { signal } : {}) };
	return (await call(contract.listVersions, options)).versions;
}

/** The URL from which a version is downloaded under the name of its file. */
export function versionUrl(area: Area, { path, owner }: Pick<Entry, 'path' | 'owner'>, version: string): string {
	const query = { type: area, version, ...(area === 'public' ? { owner: owner ?? '' } : {}) };
	return endpointUrl(contract.download, { query, params: { path } });
}

/** Makes a version the file's content again; what it had becomes a version. */
export async function restoreVersion(area: Area, path: string, id: string): Promise<Entry> {
	const payload = { filePath: path, type: area, id };
	return (await call(contract.restoreVersion, { payload })).entry;
}

/** Removes a version for good. */
export async function purgeVersion(id: string): Promise<void> {
	await call(contract.purgeVersion, { params: { id } });
}
