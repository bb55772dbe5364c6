import { KnownNames } from '../texts/names.js';

/**
 * The units of which pictures in H.264 and HEVC consist, as their decoders list them. All have a kind; those of HEVC have a layer, too.
 * Decoders decode the first layer, and pass over all that they don't know.
 */
const unit =
	/^\[(?:h264|hevc|NULL) @ 0x[0-9a-f]+\] \[debug\] nal_unit_type: (\d+)\([^)]*\), (nal_ref_idc|nuh_layer_id): (\d+)/;
/** A line of these decoders of any other content. */
const decoderLine = /^\[(h264|hevc) @ 0x[0-9a-f]+\] /;
/** What decoders say of messages that they don't know: by their numbers, or those that somebody has registered. */
const message = /^\[(?:h264|hevc|NULL) @ 0x[0-9a-f]+\] \[\w+\] (?:unknown SEI type|Skipped (?:PRE|SUF)FIX SEI) (\d+)/;
const registered = /^\[(?:h264|hevc|NULL) @ 0x[0-9a-f]+\] \[\w+\] Unsupported User Data Registered/;

/**
 * The segments of a picture of Motion JPEG in which programs write what they like, as its decoder lists them: all but those of JFIF, AVI,
 * Exif and QuickTime (0 and 1), and of Adobe (14).
 */
const segment = /^\[mjpegb? @ 0x[0-9a-f]+\] \[debug\] marker=e([2-9a-df]) /;
/** The comment of such a picture, in which network cameras write their time and id; decoders say it where they are asked for pictures. */
const comment = /^\[mjpegb? @ 0x[0-9a-f]+\] \[info\] comment: '(.*)/;
/** By which programs say in comments that they have made a picture, and how. */
const knownComments = new KnownNames(
	[],
	[
		/^(?:'|lavc|lavf|intel\(r\) jpeg library|metasoft mjpeg codec|avid|cs=itu601|multiscope|applemark|creator: gd-jpeg)/i,
		/^(?:lead technologies|created with gimp|file written by adobe|optimized by jpegmini|handmade software)/i,
	],
);

/** In H.264: the parameters of other views, transparency, slices of other layers or views, and such with depth. */
const layered: ReadonlySet<number> = new Set([15, 19, 20, 21]);
/** Pictures, parameters, messages, ends, stuffing; what is said before a picture of other layers and views; parameters of transparency. */
const isKnownAvc = (kind: number) => kind >= 1 && kind <= 14;
const isKnownHevc = (kind: number) => kind <= 9 || (kind >= 16 && kind <= 21) || (kind >= 32 && kind <= 40);
/** The messages up to here have a meaning, none of which is lost but those that are counted elsewhere. */
const lastStandardMessage = 213;

/** More are not named. */
const maxNames = 10;

export interface ReadUnits {
	/** Whether there are further layers, such as the view of the other eye; undefined if the decoders have not listed their units. */
	hasLayers: boolean | undefined;
	/** The names of what no decoder knows. */
	unread: ReadonlySet<string>;
}

/** Reads lines of the log of decoders that say all. */
export function unitReader(): { take(line: string): void; read(): ReadUnits } {
	const used = new Set<string>();
	const listed = new Set<string>();
	const unread = new Set<string>();
	let hasLayers = false;
	const addUnread = (name: string) => {
		if (unread.size < maxNames) unread.add(name);
	};
	return {
		take(line) {
			const [, codec] = decoderLine.exec(line) ?? [];
			if (codec !== undefined) used.add(codec);
			const [, digits, field, layer] = unit.exec(line) ?? [];
			if (field !== undefined) {
				const kind = Number(digits);
				const isAvc = field === 'nal_ref_idc';
				listed.add(isAvc ? 'h264' : 'hevc');
				if (isAvc ? layered.has(kind) : layer !== '0') hasLayers = true;
				else if (!(isAvc ? isKnownAvc(kind) : isKnownHevc(kind))) addUnread(`units of kind ${kind}`);
				return;
			}
			const [, type] = message.exec(line) ?? [];
			if (Number(type) > lastStandardMessage) addUnread(`messages of kind ${type}`);
			if (registered.test(line)) addUnread('registered messages');
			const [, application] = segment.exec(line) ?? [];
			if (application !== undefined) addUnread(`segments APP${Number.parseInt(application, 16)}`);
			const [, said] = comment.exec(line) ?? [];
			if (said !== undefined && !knownComments.has(said)) addUnread('comments');
		},
		read: () => ({
			hasLayers: hasLayers || ([...used].every((codec) => listed.has(codec)) ? false : undefined),
			unread,
		}),
	};
}
