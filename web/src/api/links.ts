import { generateTempLink, revokeLink, temporaryDownload, temporaryLinks } from '@stowage/contract';
import type { LinkExpiration } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { call, endpointUrl } from './client/client.js';

/** The temporary links of the signed-in user. */
export const linksQuery = queryOptions({
	queryKey: ['links'],
	queryFn: ({ signal }) => call(temporaryLinks, { signal }),
	// They are opened seldom and must be current then.
	staleTime: 0,
	gcTime: 0,
	refetchInterval: 30_000,
	retry: 1,
});

/** Creates a temporary link; returns its absolute URL and when it expires. */
export async function createLink(
	filePath: string,
	expiration: LinkExpiration,
): Promise<{ url: string; expiresAt: number }> {
	const { token, expiresAt } = await call(generateTempLink, { payload: { filePath, expiration } });
	const path = endpointUrl(temporaryDownload, { params: { token } });
	return { url: `${window.location.origin}${path}`, expiresAt };
}

export async function revokeTemporaryLink(id: string): Promise<void> {
	await call(revokeLink, { params: { id } });
}
