/** How long a temporary link is valid (spec, section 9). */
export const linkExpirations = ['1h', '12h', '1d', '1w'] as const;

export type LinkExpiration = (typeof linkExpirations)[number];

export const defaultLinkExpiration: LinkExpiration = '1h';

export const linkExpirationLabels: Readonly<Record<LinkExpiration, string>> = {
	'1h': '1 hour',
	'12h': '12 hours',
	'1d': '1 day',
	'1w': '1 week',
};

const hour = 60 * 60 * 1000;

export const linkExpirationMilliseconds: Readonly<Record<LinkExpiration, number>> = {
	'1h': hour,
	'12h': 12 * hour,
	'1d': 24 * hour,
	'1w': 7 * 24 * hour,
};
