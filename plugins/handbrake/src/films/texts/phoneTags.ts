import { withoutLanguage } from './texts.js';

/** What phones and cameras say of a film, by the names of ffprobe. */
export type PhoneTags = ReadonlyMap<string, string>;

const isPlace = (name: string) => /^location(?:-[a-z]{3})?$|\.location\./i.test(name);
const isOfPhone = (name: string) => /^(?:make|model|location)$|^com\.(?:apple|android)\./i.test(name);

/** Of Apple, with its zone. Films that were sent or edited say another time as that of their making. */
export const filmedAt = 'com.apple.quicktime.creationdate';
export const filmedRate = 'com.android.capture.fps';

/** What they write of their system, and of how their films are shown: nobody misses it. */
const ofSystem: ReadonlySet<string> = new Set([
	...['com.android.version', filmedRate, 'com.apple.quicktime.software', filmedAt],
	...['com.apple.quicktime.full-frame-rate-playback-intent', 'com.apple.photos.originating.signature'],
]);

/** The tags of a film that are of a phone. An MP4 has a text with a language without it as well, where it is counted once. */
export const phoneTagsOf = (tags: Readonly<Record<string, string>>): PhoneTags =>
	new Map(
		Object.entries(tags).filter(([name, value]) => {
			const plain = withoutLanguage(name);
			return isOfPhone(name) || (isOfPhone(plain) && tags[plain] !== value);
		}),
	);

/** The tags that say where it was filmed. */
export const placesIn = (tags: PhoneTags) => [...tags].filter(([name]) => isPlace(name));
/** The tags that say with which camera, and what else phones say of that. */
export const camerasIn = (tags: PhoneTags) =>
	[...tags].filter(([name]) => !isPlace(name) && !ofSystem.has(name.toLowerCase()));
