import { type ResultOf, type startTotp, totp } from '@stowage/contract';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../client/client.js';
import { queryKeys } from '../queryKeys.js';

export type TwoFactorState = ResultOf<typeof totp>;
/** What two-factor sign-in is turned on with: the secret, also as a URI, and the recovery codes. */
export type TwoFactorSetup = ResultOf<typeof startTotp>;

/** Whether the signed-in user signs in with a second factor. */
export const twoFactorQuery = (username: string) =>
	queryOptions({
		queryKey: queryKeys.twoFactor(username),
		queryFn: ({ signal }) => call(totp, { signal }),
		// It is shown seldom and must be current then.
		staleTime: 0,
		gcTime: 0,
	});
