import { generateTempLink, revokeLink, temporaryDownload, temporaryLinks } from '@stowage/contract';
import type { LinkExpiration } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { call, endpointUrl } from './client/client.js';

/** The links of whoever is signed in. */
export const linksQuery = queryOptions({
	queryKey: ['links'],
	queryFn: ({ signal }) => call(temporaryLinks, { signal }),
	// They are looked at seldom, and then as they are.
	staleTime: 0,
	gcTime: 0,
	refetchInterval: 30_000,
	retry: 1,
});

/** Makes a temporary link; answers its address, absolute, and when it ends. */
export async function makeLink(
	filePath: string,
	expiration: LinkExpiration,
): Promise<{ address: string; expiresAt: number }> {
	const { token, expiresAt } = await call(generateTempLink, { payload: { filePath, expiration } });
	const path = endpointUrl(temporaryDownload, { params: { token } });
	return { address: `${window.location.origin}${path}`, expiresAt };
}

export async function endLink(id: string): Promise<void> {
	await call(revokeLink, { params: { id } });
}
