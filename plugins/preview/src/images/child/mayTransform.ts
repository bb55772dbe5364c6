const headerBytes = 128;

/** The library reads no profile with more tags. */
const maxTags = 100;

/** Transformations as chains of any length, whose parts may be the same bytes again and again. */
const chains = /^D2B[0-3]$/;

/**
 * Whether the colours of an image are transformed by its ICC profile. Without one of these chains that takes a matrix or a table, which
 * are as large as the profile says; of a chain of a thousand sets of curves, which half a kilobyte of an image has, it takes 8 s.
 */
export function mayTransform(profile: Buffer): boolean {
	const table = headerBytes + 4;
	if (profile.length < table) return false;
	const count = Math.min(profile.readUInt32BE(headerBytes), maxTags);
	const end = Math.min(table + 12 * count, profile.length);
	for (let at = table; at < end; at += 12) {
		if (chains.test(profile.toString('latin1', at, at + 4))) return false;
	}
	return true;
}
