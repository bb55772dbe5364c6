const headerBytes = 128;

/** The library reads no profile with more tags. */
const maxTags = 100;

/** The tags whose transformation is a chain of any length, whose parts may be the same bytes again and again. */
const chainTags = /^D2B[0-3]$/;

/**
 * Whether the colours of an image may be transformed by its ICC profile, in a time that the size of the profile bounds:
 * it has a matrix or tables, and no chain. A chain of a thousand sets of curves, which takes half a kilobyte of a file,
 * costs 8 s of processor.
 */
export function mayApplyProfile(profile: Buffer): boolean {
	const table = headerBytes + 4;
	if (profile.length < table) return false;
	const count = Math.min(profile.readUInt32BE(headerBytes), maxTags);
	const end = Math.min(table + 12 * count, profile.length);
	for (let at = table; at < end; at += 12) {
		if (chainTags.test(profile.toString('latin1', at, at + 4))) return false;
	}
	return true;
}
