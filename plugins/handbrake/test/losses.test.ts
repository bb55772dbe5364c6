import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { json } from '../../../packages/core/test/testApp.js';
import { atMost } from '../../../test/atMost.js';
import {
	type ConversionRequest,
	convert,
	endAll,
	film,
	h264,
	optionsFor,
	picture,
	probe,
	site,
	siteOfUser,
	subtitles,
	tone,
} from './conversions.js';

// Each test has a film: all at once would leave no time to any.
atMost(6);
test.after.always(endAll);

interface Kept {
	/** What ffmpeg makes the film of. */
	args: readonly string[];
	/** The name of the film. */
	name: string;
	format: string;
	/** Changes its bytes, and returns what becomes of them. */
	damage?: (bytes: Buffer) => Buffer;
	/** What the new file lacks. */
	losses: RegExp;
}

async function converted(t: ExecutionContext, name: string, format: string, request: Partial<ConversionRequest> = {}) {
	const at = await siteOfUser();
	const put = (args: readonly string[]) => film(name, args, path.join(at.home, name));
	const ask = () => convert(at.client, { filePath: name, outputFormat: format, deleteOriginal: true, ...request });
	/** Incomplete outputs so many times are made again, as their user would. */
	const run = async (repeats = 0) => {
		let done = await ask();
		for (; repeats > 0 && done.error?.startsWith('Only '); repeats--) done = await ask();
		t.is(done.status, 'completed', done.error ?? '');
		const { detail } = json(await at.client.get(`/api/jobs/${done.conversionId}`));
		return { done, detail, names: await at.names() };
	};
	return { ...at, put, run };
}

const destroyed = (fill: (length: number) => Uint8Array) => (bytes: Buffer) => {
	const quarter = Math.floor(bytes.length / 4);
	bytes.set(fill(2 * quarter), quarter);
	return bytes;
};
/** Always the same. */
const noise = destroyed((length) => {
	let state = 1;
	return Uint8Array.from({ length }, () => {
		state = (state * 48_271) % 2_147_483_647;
		return state & 0xff;
	});
});
const zeros = destroyed((length) => new Uint8Array(length));

const long = [...picture('160x90', 12), ...tone(440, 12)];

const noisy = ['-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=25:d=6', ...tone(440, 6)];

/** Of which no frame needs another one, so that no decoder misses those that are lost. */
const everyFrame = ['-c:v', 'mpeg2video', '-g', '1', '-b:v', '400k'];

/** Writes captions of the first picture where the encoder has written its name, and fills what is left. */
function captioned(bytes: Buffer): Buffer {
	const begin = bytes.lastIndexOf(Buffer.from([6, 5]), bytes.indexOf('x264 - core')) - 4;
	const unit = bytes.subarray(begin + 4, begin + 4 + bytes.readUInt32BE(begin));
	const pairs = ['HE', 'LL', 'O.'].flatMap((text) => [0xfc, ...Buffer.from(text)]);
	const captions = [0xb5, 0, 0x31, ...Buffer.from('GA94'), 3, 0x40 | (pairs.length / 3), 0xff, ...pairs, 0xff];
	const message = [6, 4, captions.length, ...captions];
	let left = unit.length - message.length - 2;
	const sizes: number[] = [];
	for (; left - 1 >= 0xff; left -= 0x100) sizes.push(0xff);
	unit.set([...message, 3, ...sizes, left - 1]);
	unit.fill(0xff, message.length + 2 + sizes.length, unit.length - 1);
	unit[unit.length - 1] = 0x80;
	return bytes;
}

/** Says of the sound of a MOV that it is encrypted, as is done by the boxes around the description of its samples. */
function encryptedSound(bytes: Buffer): Buffer {
	const described = bytes.lastIndexOf('sowt');
	const box = Buffer.from('\0\0\0\x14sinf\0\0\0\x0cfrmasowt', 'latin1');
	const end = described - 4 + bytes.readUInt32BE(described - 4);
	for (const name of ['enca', 'stsd', 'stbl', 'minf', 'mdia', 'trak', 'moov']) {
		const at = name === 'enca' ? described : bytes.lastIndexOf(name, described);
		bytes.writeUInt32BE(bytes.readUInt32BE(at - 4) + box.length, at - 4);
	}
	bytes.write('enca', described, 'latin1');
	return Buffer.concat([bytes.subarray(0, end), box, bytes.subarray(end)]);
}

/** Encrypts the sound of a transport stream in its second third, as is said in the head of each packet. */
function encryptedFor(bytes: Buffer): Buffer {
	const packets = bytes.length / 188;
	let state = 1;
	for (let n = Math.floor(packets / 3); n < (packets * 2) / 3; n++) {
		const packet = bytes.subarray(n * 188, (n + 1) * 188);
		if ((packet.readUInt16BE(1) & 0x1fff) !== 0x101) continue;
		const head = 4 + ((packet.readUInt8(3) & 0x20) === 0 ? 0 : 1 + packet.readUInt8(4));
		packet[3] = packet.readUInt8(3) | 0x80;
		for (let at = head; at < packet.length; at++) {
			state = (state * 48_271) % 2_147_483_647;
			packet[at] = state & 0xff;
		}
	}
	return bytes;
}

/** Adds the positions of a dashboard camera: blocks in room that is declared to be free, and their index. */
function withPositions(bytes: Buffer): Buffer {
	const index = bytes.lastIndexOf('moov') - 4;
	const box = (name: string, content: Buffer) => {
		const head = Buffer.alloc(8);
		head.writeUInt32BE(8 + content.length);
		head.write(name, 4, 'latin1');
		return Buffer.concat([head, content]);
	};
	const block = box('free', Buffer.concat([Buffer.from('GPS '), Buffer.alloc(1000, 'N59E30')]));
	return Buffer.concat([
		bytes.subarray(0, index),
		block,
		box('moov', Buffer.concat([bytes.subarray(index + 8), box('gps ', number(index))])),
	]);
}

/** Adds them to the end of its pictures and sound, where no table names them. */
function withPositionsInside(bytes: Buffer): Buffer {
	const [media, index] = [bytes.indexOf('mdat') - 4, bytes.lastIndexOf('moov') - 4];
	const block = Buffer.concat([number(1012), Buffer.from('freeGPS '), Buffer.alloc(1000, 'N59E30')]);
	const inside = Buffer.concat([bytes.subarray(media + 4, index), block]);
	return Buffer.concat([bytes.subarray(0, media), number(inside.length + 4), inside, bytes.subarray(index)]);
}

/** In place of those of the encoder, as long as they are. */
function withComments(bytes: Buffer): Buffer {
	for (let at = bytes.indexOf('Lavc'); at >= 0; at = bytes.indexOf('Lavc', at + 4)) {
		if (bytes.readUInt16BE(at - 4) === 0xfffe) bytes.write('Cam1', at, 'latin1');
	}
	return bytes;
}

const number = (value: number) => {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
};

const twoSounds = [
	...[...picture('160x90', 2), ...tone(440, 2), ...tone(880, 2), '-map', '0', '-map', '1', '-map', '2', ...h264],
	...['-c:a', 'aac'],
];

const kept: Readonly<Record<string, Kept>> = {
	'of a dashboard camera, with its positions': {
		args: [...picture('160x90', 4), ...tone(440, 4), ...h264, '-c:a', 'aac'],
		name: 'positions.mp4',
		format: 'mp4',
		damage: withPositions,
		losses: /^data that no program here reads \(free, gps \)$/,
	},
	'of a dashboard camera, with its positions among the pictures': {
		args: [...picture('160x90', 4), ...tone(440, 4), ...h264, '-c:a', 'aac'],
		name: 'inside.mp4',
		format: 'mp4',
		damage: withPositionsInside,
		losses: /^data that no program here reads \(what is in no sample\)$/,
	},
	'of a network camera, whose pictures have comments': {
		args: [...picture('160x90', 2), '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p'],
		name: 'comments.avi',
		format: 'mp4',
		damage: withComments,
		losses: /^data in its pictures that no program here reads \(comments\)$/,
	},
	'of which the middle half is destroyed': {
		args: [...long, ...h264, '-c:a', 'aac'],
		name: 'destroyed.mp4',
		format: 'mp4',
		damage: zeros,
		losses: /could not be decoded \(\d+ errors\)/,
	},
	'of which the middle half is zeros': {
		args: [...long, ...h264, '-c:a', 'aac'],
		name: 'zeros.mkv',
		format: 'mkv',
		damage: zeros,
		losses: /of 30[01] frames/,
	},
	'in Ogg that was cut off at a half of it': {
		args: [...picture('160x96', 6), ...tone(440, 6), '-c:v', 'libtheora', '-c:a', 'libvorbis'],
		name: 'half.ogv',
		format: 'mp4',
		damage: (bytes) => bytes.subarray(0, bytes.length / 2),
		losses: /^the ends of 2 tracks, which are missing in the file$/,
	},
	'without sound of which the middle half is zeros': {
		args: [...picture('160x90', 12), ...h264],
		name: 'silent.mkv',
		format: 'mp4',
		damage: zeros,
		losses: /of 30[01] frames/,
	},
	'that says no duration, of which the middle half is zeros': {
		args: [...long, ...h264, '-c:a', 'aac', '-live', '1'],
		name: 'live.mkv',
		format: 'mkv',
		damage: zeros,
		losses: /could not be decoded|of 30[01] frames/,
	},
	'that says no duration and has no sound, of which the middle half is zeros': {
		args: [...picture('160x90', 12), ...h264, '-live', '1'],
		name: 'mute.mkv',
		format: 'mp4',
		damage: zeros,
		losses: /of 30[01] frames/,
	},
	'that says no duration, of which the end is zeros': {
		args: [...noisy, ...h264, '-c:a', 'aac', '-live', '1'],
		name: 'end.mkv',
		format: 'mp4',
		damage: (bytes) => bytes.fill(0, Math.floor(bytes.length * 0.95)),
		losses: /could not be decoded/,
	},
	'with two tracks of video': {
		args: [...picture('160x90', 2), ...picture('320x180', 2), '-map', '0', '-map', '1', ...h264],
		name: 'two.mp4',
		format: 'mp4',
		losses: /^1 of 2 video tracks$/,
	},
	'with an attached file': {
		args: [
			...picture('160x90', 2),
			...h264,
			'-attach',
			'film.srt',
			'-metadata:s:t',
			'mimetype=application/octet-stream',
		],
		name: 'attached.mkv',
		format: 'mkv',
		losses: /^1 of 1 attachments$/,
	},
	'that says where and with which camera it was filmed': {
		args: [
			...picture('160x90', 2),
			...h264,
			...['-metadata', 'location=+52.5200+013.4050/', '-metadata', 'com.apple.quicktime.make=Apple'],
			...['-movflags', 'use_metadata_tags'],
		],
		name: 'place.mov',
		format: 'mp4',
		losses: /^the place where it was filmed, the camera$/,
	},
	'with the timecode of a camera': {
		args: [...picture('160x90', 2), ...h264, '-timecode', '01:02:03:04'],
		name: 'timecode.mov',
		format: 'mkv',
		losses: /^its timecode$/,
	},
	'of a high dynamic range': {
		args: [...picture('160x90', 1), '-pix_fmt', 'yuv420p10le', '-c:v', 'libx265', '-x265-params', 'transfer=smpte2084'],
		name: 'hdr.mp4',
		format: 'mp4',
		losses: /^high dynamic range$/,
	},
	'of a high dynamic range that is said beside its pictures only': {
		args: [
			...[...picture('160x90', 1), '-pix_fmt', 'yuv420p10le', '-c:v', 'libx265'],
			...['-x265-params', 'transfer=bt2020-10:atc-sei=18'],
		],
		name: 'hlg.mp4',
		format: 'mp4',
		losses: /^high dynamic range, its colours$/,
	},
	'whose sound is encrypted': {
		args: [...picture('160x90', 2), ...tone(440, 2), ...h264, '-c:a', 'pcm_s16le'],
		name: 'encrypted.mov',
		format: 'mp4',
		damage: encryptedSound,
		losses: /^encrypted tracks$/,
	},
	'whose sound is encrypted for a while, as in a recording of television': {
		args: [...noisy, ...h264, '-c:a', 'aac', '-f', 'mpegts'],
		name: 'scrambled.mts',
		format: 'mp4',
		damage: encryptedFor,
		// A decoder may miss what is not whole at the beginning of that.
		losses: /^encrypted tracks(?:, what could not be decoded \(1 error\))?$/,
	},
	'whose sound has a slower clock than its pictures, so that the encoder leaves out a part of it here and there': {
		args: [...long, ...h264, '-c:a', 'aac', '-bsf:a', 'setts=ts=TS*0.95'],
		name: 'overlaps.mkv',
		format: 'mp4',
		losses: /^0\.[5-7] s of sound whose times overlap$/,
	},
	'of which half a second is zeros': {
		args: [...picture('160x90', 12), ...tone(440, 12), '-c:v', 'flv', '-c:a', 'mp3', '-ar', '44100'],
		name: 'clip.flv',
		format: 'mp4',
		damage: (bytes) => bytes.fill(0, bytes.length >> 1, Math.floor(bytes.length * 0.57)),
		losses: /of 30[01] frames/,
	},
	'of which a third of a second is zeros, a transport stream': {
		args: [...picture('160x90', 10), ...tone(440, 10), ...everyFrame, '-c:a', 'mp2', '-f', 'mpegts'],
		name: 'gap.mts',
		format: 'mp4',
		damage: (bytes) => bytes.fill(0, bytes.length >> 1, Math.floor(bytes.length * 0.535)),
		losses: /of 250 frames/,
	},
	'of which a third of a second was cut out, in Matroska': {
		args: [...picture('160x90', 10), ...tone(440, 10), ...everyFrame, '-c:a', 'aac', '-cluster_time_limit', '100'],
		name: 'gap.mkv',
		format: 'mp4',
		damage: (bytes) =>
			Buffer.concat([bytes.subarray(0, bytes.length >> 1), bytes.subarray(Math.floor(bytes.length * 0.535))]),
		losses: /of 25[01] frames/,
	},
	'of which half a kilobyte is zeros, so that decoders conceal it in a transport stream': {
		args: [...noisy, ...h264, '-b:v', '1500k', '-c:a', 'aac', '-f', 'mpegts'],
		name: 'concealed.mts',
		format: 'mp4',
		damage: (bytes) => bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 512),
		losses: /^data that no program here reads \(what is in no packet\), what could not be decoded \(\d+ errors?\)$/,
	},
	'in which single bits are wrong, so that decoders conceal it in AVI': {
		args: [...noisy, '-c:v', 'mpeg4', '-b:v', '1500k', '-c:a', 'pcm_s16le'],
		name: 'bits.avi',
		format: 'mkv',
		damage: (bytes) => {
			for (let at = bytes.length >> 2; at < bytes.length >> 1; at += 20_000) bytes[at] = ~(bytes[at] ?? 0);
			return bytes;
		},
		losses: /^what could not be decoded \(\d+ errors?\)$/,
	},
	'of which the sound begins three seconds later by empty packets, which are left out, in AVI': {
		args: [...picture('160x90', 8), '-itsoffset', '3', ...tone(440, 5), '-c:v', 'mpeg4', '-c:a', 'mp3'],
		name: 'delayed.avi',
		format: 'mp4',
		losses: /^3 s of audio track 1$/,
	},
	'of which the sound begins three seconds later by a number in its header, which no program reads, in AVI': {
		args: [...picture('160x90', 8), ...tone(440, 5), '-c:v', 'mpeg4', '-c:a', 'mp3'],
		name: 'start.avi',
		format: 'mp4',
		damage: (bytes) => {
			const header = bytes.indexOf('auds') - 8;
			const [scale, rate] = [bytes.readUInt32LE(header + 28), bytes.readUInt32LE(header + 32)];
			bytes.writeUInt32LE(Math.round((3 * rate) / scale), header + 36);
			return bytes;
		},
		losses: /^a delay of 3(?:\.0\d)? s between tracks$/,
	},
	'in which a decoder leaves most of a packet unread, in WMV': {
		args: [...noisy, '-c:v', 'wmv2', '-b:v', '1500k', '-c:a', 'wmav2'],
		name: 'unread.wmv',
		format: 'mp4',
		damage: (bytes) => bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 256),
		losses: /^what could not be decoded \(\d+ errors?\)$/,
	},
	'with another one behind it': {
		args: [...picture('160x90', 4), ...tone(440, 4), ...h264, '-c:a', 'aac'],
		name: 'followed.mp4',
		format: 'mp4',
		damage: (bytes) => Buffer.concat([bytes, bytes, Buffer.alloc(200_000, 'a')]),
		losses:
			/^data that no program here reads \(several moov, aaaa, what is in no sample\), \d+\.\d kB that are part of no track$/,
	},
	'that is interlaced': {
		args: [...picture('160x96', 2, 50), '-vf', 'tinterlace=interleave_top', ...h264, '-flags', '+ilme+ildct'],
		name: 'interlaced.mp4',
		format: 'mp4',
		losses: /^the half pictures of interlaced video$/,
	},
	'that is interlaced, as only its file says and no frame of it': {
		args: [...picture('160x90', 2), '-c:v', 'huffyuv', '-pix_fmt', 'yuv422p', '-field_order', 'tt', '-flags', '+ildct'],
		name: 'fields.mkv',
		format: 'mp4',
		losses: /^the half pictures of interlaced video$/,
	},
	'with closed captions that begin where the encoder does not look for them': {
		args: [...picture('160x90', 2), ...h264],
		name: 'captions.mp4',
		format: 'mp4',
		damage: captioned,
		losses: /^closed captions$/,
	},
	'that is shown mirrored': {
		args: [...picture('160x90', 2), ...h264],
		name: 'mirrored.mp4',
		format: 'mp4',
		damage: (bytes) => {
			// The first number of the matrix.
			const matrix = bytes.indexOf('tkhd') + 44;
			bytes.writeInt32BE(-bytes.readInt32BE(matrix), matrix);
			return bytes;
		},
		losses: /^that it is shown mirrored or at a slant$/,
	},
	'of which only the frames say that it is shown mirrored': {
		args: [...picture('160x90', 2), ...h264, '-bsf:v', 'h264_metadata=display_orientation=insert:flip=horizontal'],
		name: 'frames.mp4',
		format: 'mkv',
		losses: /^that it is shown turned or mirrored, which only its pictures say$/,
	},
	'with a second layer of pictures, of which no decoder says anything': {
		args: [...picture('160x90', 1), '-pix_fmt', 'yuv420p', '-c:v', 'libx265', '-tag:v', 'hvc1'],
		name: 'layers.mp4',
		format: 'mp4',
		damage: (bytes) => {
			const parameters = bytes.indexOf(Buffer.from([0x40, 1]), bytes.indexOf('hvcC'));
			bytes[parameters + 3] = (bytes[parameters + 3] ?? 0) | 0x10;
			return bytes;
		},
		losses: /^the second layer of its pictures \(the view of the other eye, or transparency\)$/,
	},
	'with positions in messages of its pictures, beside that of the encoder': {
		args: [
			...[...picture('160x90', 2), ...h264, '-bsf:v'],
			'h264_metadata=sei_user_data=10112233-4455-6677-8899-aabbccddeeff+N59E30',
		],
		name: 'messages.mp4',
		format: 'mp4',
		losses: /^1 message in its pictures that no program here reads$/,
	},
	'with the view of the other eye in H.264, of which no decoder says anything': {
		args: [...picture('160x90', 2), ...h264, '-x264-params', 'aud=1'],
		name: 'eyes.mp4',
		format: 'mp4',
		// In place of what says that a picture begins.
		damage: (bytes) => {
			const begin = Buffer.from('0000000209', 'hex');
			for (let at = bytes.indexOf(begin); at >= 0; at = bytes.indexOf(begin, at + 1)) bytes[at + 4] = 0x74;
			return bytes;
		},
		losses: /^the second layer of its pictures \(the view of the other eye, or transparency\)$/,
	},
	'with keywords that a program for photographs has written behind it': {
		args: [...picture('160x90', 2), ...h264],
		name: 'keywords.mp4',
		format: 'mp4',
		damage: (bytes) => {
			const xmp = '<x:xmpmeta><dc:subject><rdf:Bag><rdf:li>holiday</rdf:li></rdf:Bag></dc:subject></x:xmpmeta>';
			const box = Buffer.concat([
				Buffer.from([0, 0, 0, 24 + xmp.length]),
				Buffer.from('uuid'),
				Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex'),
				Buffer.from(xmp),
			]);
			return Buffer.concat([bytes, box]);
		},
		losses: /^what the file says of it \(keywords\)$/,
	},
	'of which only the frames say that they are views for two eyes': {
		args: [...picture('160x90', 2), ...h264, '-x264-params', 'frame-packing=3'],
		name: 'stereo.mp4',
		format: 'mp4',
		losses: /^the view of a panorama or in 3D$/,
	},
	'of the colours of a screen': {
		args: [...picture('160x90', 2), '-c:v', 'ffv1', '-pix_fmt', 'bgr0'],
		name: 'screen.mkv',
		format: 'mp4',
		losses: /^colours of a screen \(RGB\)$/,
	},
	'with subtitles that have fonts and places, which mp4 has none of': {
		args: [...picture('160x90', 2), '-i', 'film.srt', ...h264, '-c:s', 'ass'],
		name: 'styled.mkv',
		format: 'mp4',
		losses: /^fonts, colours and places of 1 subtitles$/,
	},
	'with a line of subtitles that has a place, which mp4 has none of': {
		args: [...picture('160x90', 2), '-i', 'placed.srt', ...h264, '-c:s', 'srt'],
		name: 'placed.mkv',
		format: 'mp4',
		losses: /^the place of 1 line of subtitles$/,
	},
	'with names of its tracks, forced subtitles and a comment': {
		args: [
			...[...picture('160x90', 2), ...tone(440, 2), ...tone(880, 2), '-i', 'film.srt'],
			...[...['-map', '0', '-map', '1', '-map', '2', '-map', '3'], ...h264, '-c:a', 'aac', '-c:s', 'srt'],
			...['-metadata:s:a:0', 'title=Original', '-metadata:s:a:1', 'title=Commentary', '-metadata', 'comment=Ours'],
			...['-disposition:s:0', 'forced'],
		],
		name: 'names.mkv',
		format: 'mkv',
		losses: /^names of tracks, which tracks are forced, what the file says of it \(comment\)$/,
	},
	'with names of its tracks where no program reads them': {
		args: [...twoSounds, '-metadata:s:a:0', 'title=Original', '-metadata:s:a:1', 'title=Commentary'],
		name: 'unread.mp4',
		format: 'mp4',
		losses: /^data that no program here reads \(names of tracks\)$/,
	},
	'with names of its tracks in place of those of programs': {
		args: [...twoSounds, '-metadata:s:a:0', 'handler_name=Original', '-metadata:s:a:1', 'handler_name=Commentary'],
		name: 'handlers.mp4',
		format: 'mkv',
		losses: /^names of tracks$/,
	},
	'with texts of names that its makers chose': {
		args: [
			...[...picture('160x90', 2), ...tone(440, 2), '-c:v', 'wmv2', '-c:a', 'wmav2'],
			...['-metadata', 'WM/Producer=Ada', '-metadata', 'publisher=Us', '-metadata', 'title=Ours'],
		],
		name: 'texts.wmv',
		format: 'mp4',
		losses: /^what the file says of it \((?:wm\/producer, publisher|publisher, wm\/producer)\)$/,
	},
	'with texts of a track': {
		args: [...picture('160x90', 2), ...tone(440, 2), ...h264, '-metadata:s:a:0', 'person=Ada'],
		name: 'person.mkv',
		format: 'mkv',
		losses: /^what the file says of it \(person\)$/,
	},
	'with a title and a comment, which Ogg keeps in a track': {
		args: [
			...[...picture('160x96', 2), ...tone(440, 2), '-c:v', 'libtheora', '-c:a', 'libvorbis'],
			...['-metadata:s:v:0', 'title=Ours', '-metadata:s:v:0', 'comment=At the sea'],
		],
		name: 'texts.ogv',
		format: 'mp4',
		losses: /^what the file says of it \((?:title, comment|comment, title)\)$/,
	},
	'with channels of which the encoder makes one': {
		args: [
			...[...picture('160x90', 2), '-f', 'lavfi', '-i', `aevalsrc=${'0|'.repeat(5)}sin(4000*t):c=hexagonal:d=2`],
			...[...h264, '-c:a', 'flac'],
		],
		name: 'hexagonal.mkv',
		format: 'mkv',
		losses: /^channels of audio track 1 that become one \(hexagonal\)$/,
	},
	'of a screen, whose pictures the encoder spreads evenly from burst to burst': {
		args: [
			...[...picture('160x90', 15, 30), ...tone(440, 15), '-vf', String.raw`select='lt(mod(t\,5)\,1)+not(mod(n\,15))'`],
			...['-vsync', 'vfr', ...h264, '-c:a', 'aac'],
		],
		name: 'bursts.mp4',
		format: 'mkv',
		losses: /^the times of its pictures, which are at other moments of its sound$/,
	},
	'of a screen without sound, whose pictures the encoder spreads evenly': {
		args: [
			...picture('160x90', 15, 30),
			'-vf',
			String.raw`select='lt(mod(t\,5)\,1)+not(mod(n\,15))'`,
			'-vsync',
			'vfr',
			...h264,
		],
		name: 'mute-bursts.mp4',
		format: 'mkv',
		losses: /^the times of its pictures$/,
	},
	'of several microphones, whose file does not say which is which': {
		args: [
			...[...picture('160x90', 2), '-f', 'lavfi', '-i', 'aevalsrc=0|0|0|sin(5000*t)|0|0:d=2'],
			...[...h264, '-c:a', 'pcm_s16le'],
		],
		name: 'microphones.mkv',
		format: 'mp4',
		losses: /^high tones of a channel of audio track 1 \(its file does not say which is for low ones\)$/,
	},
	'with seven channels, which the encoder puts to other places in webm': {
		args: [
			...[...picture('160x90', 2), '-f', 'lavfi', '-i', `aevalsrc=${'0|'.repeat(6)}sin(4000*t):c=6.1:d=2`],
			...[...h264, '-c:a', 'flac'],
		],
		name: 'seven.mkv',
		format: 'webm',
		losses: /^where the channels of audio track 1 are heard$/,
	},
	'with subtitles, which webm has none of': {
		args: [...picture('160x90', 2), '-i', 'film.srt', ...h264, '-c:s', 'srt'],
		name: 'subtitles.mkv',
		format: 'webm',
		losses: /^1 of 1 subtitles$/,
	},
};

for (const [what, { args, name, format, damage, losses }] of Object.entries(kept)) {
	test(`a film ${what} is kept, and the result says what the new file lacks`, async (t) => {
		await subtitles('film.srt');
		await subtitles('placed.srt', '1\n00:00:00,200 --> 00:00:00,900\n{\\an8}Top sign\n');
		const { home, put, run } = await converted(t, name, format);
		await put(args);
		const file = path.join(home, name);
		if (damage !== undefined) {
			const bytes = await readFile(file);
			await writeFile(file, damage(bytes));
		}
		const before = await readFile(file);
		const { done, detail, names } = await run();
		t.is(detail.isOriginalDeleted, false);
		t.regex(detail.losses.join(', '), losses);
		t.true(names.includes(name));
		t.is(names.length, 2);
		t.not(done.outputPath, name);
		t.true(before.equals(await readFile(file)));
	});
}

test('a film of which the pictures become larger, as in recordings of conferences, is kept', async (t) => {
	const { home, put, run } = await converted(t, 'sizes.webm', 'mp4');
	await subtitles('sizes.txt', 'file small.webm\nfile large.webm\n');
	const part = (name: string, size: string) =>
		film(name, [...picture(size, 2), '-c:v', 'libvpx', '-deadline', 'realtime'], path.join(home, name));
	await Promise.all([part('small.webm', '160x90'), part('large.webm', '320x180')]);
	await put(['-f', 'concat', '-i', 'sizes.txt', '-c', 'copy']);
	const { detail, names } = await run();
	t.deepEqual(detail.losses, ['the sizes of its pictures, which change']);
	t.is(detail.isOriginalDeleted, false);
	t.true(names.includes('sizes.webm'));
});

test('a film with two lines of subtitles that begin at the same moment, of which the new one has one, is kept', async (t) => {
	const { put, run } = await converted(t, 'dialogue.mkv', 'mkv');
	const lines = ['00:00:00,500 --> 00:00:01,000\n- Yes?', '00:00:00,500 --> 00:00:01,500\n- No.'];
	await subtitles('dialogue.srt', lines.map((line, n) => `${n + 1}\n${line}\n\n`).join(''));
	await put([...picture('160x90', 2), '-i', 'dialogue.srt', ...h264, '-c:s', 'srt']);
	const { detail } = await run();
	t.deepEqual(detail.losses, ['1 of 2 lines of subtitles 1']);
	t.is(detail.isOriginalDeleted, false);
});

/** A file of PGS with a white picture from each of these seconds until the next one, at which that is cleared. */
function pictureSubtitles(...times: readonly number[]): Buffer {
	const part = (seconds: number, kind: number, ...content: readonly number[]) => {
		const head = Buffer.from('PG\0\0\0\0\0\0\0\0\0\0\0');
		head.writeUInt32BE(seconds * 90_000, 2);
		head.writeUInt8(kind, 10);
		head.writeUInt16BE(content.length, 11);
		return [head, Buffer.from(content)];
	};
	const size = [0, 160, 0, 90, 16];
	const shown = [0, 32, 0, 8];
	const rows = Array.from({ length: 8 }, () => [0, 0x80 + 32, 1, 0, 0]).flat();
	const cleared = (at: number, n: number) => [
		...part(at, 0x16, ...size, 0, n, 0, 0, 0, 0),
		...part(at, 0x17, 1, 0, 0, 0, 0, 0, 0, 8, 0, 8),
		...part(at, 0x80),
	];
	const picture = (at: number, n: number) => [
		...part(at, 0x16, ...size, 0, n, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 40, 0, 40),
		...part(at, 0x17, 1, 0, 0, 40, 0, 40, ...shown),
		...part(at, 0x14, 0, 0, 1, 235, 128, 128, 255),
		...part(at, 0x15, 0, 0, 0, 0xc0, 0, 0, rows.length + 4, ...shown, ...rows),
		...part(at, 0x80),
	];
	const each = times.flatMap((time, n) => [
		...(n === 0 ? [] : cleared(time, 2 * n - 1)),
		...(n === times.length - 1 ? [] : picture(time, 2 * n)),
	]);
	return Buffer.concat(each);
}

test('a film whose subtitles are pictures, of which each begins as the one before is cleared, is kept', async (t) => {
	const { home, put, run } = await converted(t, 'pictures.mkv', 'mkv');
	const file = path.join(home, 'pictures.sup');
	await writeFile(file, pictureSubtitles(0.5, 1, 1.5, 2));
	await put(['-copyts', ...picture('160x90', 3), '-i', file, '-map', '0', '-map', '1', ...h264, '-c:s', 'copy']);
	const { detail } = await run();
	t.deepEqual(detail.losses, ['2 of 3 lines of subtitles 1']);
	t.is(detail.isOriginalDeleted, false);
});

test('a transport stream with a track of sound that begins later and ends before its end is kept', async (t) => {
	const { home, run } = await converted(t, 'later.mts', 'mkv');
	// The first and the last part have more bytes than ffprobe reads to find the tracks.
	const part = (at: number, seconds: number, tracks: number) =>
		film(
			`part${at}.mts`,
			[
				...['-f', 'lavfi', '-i', `testsrc=s=320x180:r=25:d=${seconds},noise=alls=100:allf=t`],
				...Array.from({ length: tracks }, (_, n) => tone(440 * (n + 1), seconds)).flat(),
				...Array.from({ length: tracks + 1 }, (_, n) => ['-map', `${n}`]).flat(),
				...['-c:v', 'mpeg2video', '-g', '1', '-q:v', '1', '-c:a', 'mp2', '-output_ts_offset', `${at}`, '-f', 'mpegts'],
			],
			path.join(home, `part${at}.mts`),
		);
	await Promise.all([part(0, 6, 1), part(6, 1, 2), part(7, 6, 1)]);
	const parts = [0, 6, 7].map((at) => path.join(home, `part${at}.mts`));
	await writeFile(path.join(home, 'later.mts'), Buffer.concat(await Promise.all(parts.map((file) => readFile(file)))));
	await Promise.all(parts.map((file) => rm(file)));
	const { detail, names } = await run();
	t.regex(detail.losses.join(), /1 track that begins later/);
	t.deepEqual([detail.isOriginalDeleted, names.length, names.includes('later.mts')], [false, 2, true]);
});

test('recordings that were joined to one file are converted with all of them', async (t) => {
	const { client, home, names } = await siteOfUser();
	const joined = {
		'tape.avi': [...picture('160x96', 4), ...tone(440, 4), '-c:v', 'mpeg4', '-c:a', 'mp3'],
		'tape.mpg': [...picture('160x96', 4), ...tone(440, 4), '-c:v', 'mpeg2video', '-c:a', 'mp2', '-f', 'vob'],
		'tape.mts': [...picture('160x96', 4), ...tone(440, 4), ...h264, '-c:a', 'aac', '-f', 'mpegts'],
	};
	for (const [name, args] of Object.entries(joined)) {
		const file = path.join(home, name);
		await film(name, args, file);
		const bytes = await readFile(file);
		await writeFile(file, Buffer.concat([bytes, bytes]));
		const { status, error, outputPath } = await convert(client, { filePath: name, customOutputName: name.slice(5) });
		t.is(status, 'completed', error ?? '');
		t.is(Math.round((await probe(path.join(home, outputPath ?? ''))).seconds), 8, name);
	}
	t.is((await names()).length, 6);
});

test('a transport stream of which the middle half is destroyed is not replaced by what is left of it', async (t) => {
	const { client, home, names } = await siteOfUser();
	const file = path.join(home, 'noise.mts');
	await film('noise.mts', [...long, ...h264, '-c:a', 'aac', '-f', 'mpegts'], file);
	const bytes = await readFile(file);
	noise(bytes);
	await writeFile(file, bytes);
	const { status, error } = await convert(client, { filePath: 'noise.mts', deleteOriginal: true });
	t.is(status, 'failed');
	t.regex(error ?? '', /^Only \d.* s could be converted: the original is probably damaged\. It was kept\.$/);
	t.deepEqual(await names(), ['noise.mts']);
});

/** An MP4 of ffmpeg, whose tables are at its end, with other edits of its tracks: from and to which second they show. */
function withEdits(
	bytes: Buffer,
	edits: Readonly<Record<'vide' | 'soun', readonly (readonly [number, number])[]>>,
	speed = 1,
) {
	const box = (name: string, data: Buffer) => {
		const head = Buffer.alloc(8);
		head.writeUInt32BE(8 + data.length);
		head.write(name, 4, 'latin1');
		return Buffer.concat([head, data]);
	};
	const numbers = (...values: number[]) => {
		const data = Buffer.alloc(4 * values.length);
		for (const [n, value] of values.entries()) data.writeInt32BE(value, 4 * n);
		return data;
	};
	const mapped = (data: Buffer, change: (name: string, content: Buffer) => Buffer): Buffer => {
		const parts: Buffer[] = [];
		for (let at = 0; at < data.length; at += data.readUInt32BE(at)) {
			const name = data.toString('latin1', at + 4, at + 8);
			parts.push(box(name, change(name, data.subarray(at + 8, at + data.readUInt32BE(at)))));
		}
		return Buffer.concat(parts);
	};
	const inTrack = (track: Buffer) => {
		const kind = track.toString('latin1', track.indexOf('hdlr') + 12, track.indexOf('hdlr') + 16) as 'vide' | 'soun';
		const scale = track.readUInt32BE(track.indexOf('mdhd') + 16);
		const list = edits[kind].flatMap(([from, to]) => [
			((to - from) * 1000) / speed,
			Math.round(from * scale),
			speed * 0x10000,
		]);
		const edited = box('elst', numbers(0, edits[kind].length, ...list));
		return mapped(track, (name, content) => (name === 'edts' ? edited : content));
	};
	const moov = bytes.lastIndexOf('moov') - 4;
	const movie = mapped(bytes.subarray(moov), (name, content) =>
		name === 'moov' ? mapped(content, (inner, each) => (inner === 'trak' ? inTrack(each) : each)) : content,
	);
	return Buffer.concat([bytes.subarray(0, moov), movie]);
}

const whole = [0, 12] as const;
const hiding: Readonly<Record<string, { edits: Parameters<typeof withEdits>[1]; losses: string[] }>> = {
	'the last half': {
		edits: { vide: [[0, 6]], soun: [[0, 6]] },
		losses: ['6 s of video track 1 that are hidden', '6 s of audio track 1 that are hidden'],
	},
	'the middle': {
		edits: {
			vide: [
				[0, 4],
				[8, 12],
			],
			soun: [
				[0, 4],
				[8, 12],
			],
		},
		losses: ['4 s of video track 1 that are hidden', '4 s of audio track 1 that are hidden'],
	},
	'a long beginning': {
		edits: { vide: [[5, 12]], soun: [[5, 12]] },
		losses: ['5 s of video track 1 that are hidden', '5 s of audio track 1 that are hidden'],
	},
	'the last half behind the first half, which is shown twice': {
		edits: {
			vide: [
				[0, 6],
				[0, 6],
			],
			soun: [whole],
		},
		losses: ['6 s of video track 1 that are hidden'],
	},
	'its sound at the end': {
		edits: { vide: [whole], soun: [[0, 8]] },
		losses: ['4 s of audio track 1 that are hidden'],
	},
};

for (const [what, { edits, losses }] of Object.entries(hiding)) {
	test(`a film whose edit list hides ${what} is kept`, async (t) => {
		const { home, put, run } = await converted(t, 'edited.mp4', 'mp4');
		await put([...long, ...h264, '-g', '25', '-c:a', 'aac']);
		const file = path.join(home, 'edited.mp4');
		await writeFile(file, withEdits(await readFile(file), edits));
		const { detail, names } = await run();
		t.true(names.includes('edited.mp4'));
		t.is(detail.isOriginalDeleted, false);
		const hidden = (detail.losses as string[]).filter((loss) => !loss.endsWith('part of no track'));
		t.deepEqual(hidden, losses);
	});
}

test('a film whose edit list plays it slower, as only players of Apple do, is kept', async (t) => {
	const { home, put, run } = await converted(t, 'edited.mp4', 'mp4');
	await put([...long, ...h264, '-g', '25', '-c:a', 'aac']);
	const file = path.join(home, 'edited.mp4');
	await writeFile(file, withEdits(await readFile(file), { vide: [whole], soun: [whole] }, 0.5));
	const { detail } = await run();
	t.is(detail.isOriginalDeleted, false);
	t.deepEqual(detail.losses, ['data that no program here reads (a speed of its own)']);
});

const variableRate = ['-vf', "select='if(gt(t,1),not(mod(n,5)),1)'", '-vsync', 'vfr'];

const deleted: Readonly<Record<string, { args: readonly string[]; name: string; format: string; repeats?: number }>> = {
	'with sound': { args: [...long, ...h264, '-c:a', 'aac'], name: 'good.mov', format: 'mp4' },
	'of a frame rate that changes a little': {
		args: [...picture('160x90', 4), '-vf', "select='if(gt(t,1),mod(n,5),1)'", '-vsync', 'vfr', ...h264],
		name: 'vfr.mp4',
		format: 'mkv',
	},
	'of a variable frame rate with sound in Matroska': {
		args: [...picture('160x90', 4), ...tone(440, 4), ...variableRate, ...h264],
		name: 'vfr.mkv',
		format: 'mp4',
	},
	'of a transport stream with sound': {
		args: [...picture('160x90', 4, 30), ...tone(440, 4), ...h264, '-c:a', 'aac', '-f', 'mpegts'],
		name: 'good.mts',
		format: 'mp4',
	},
	'whose title and comment have the words of errors': {
		args: [
			...[...picture('160x90', 4), ...tone(440, 4), ...h264, '-c:a', 'aac'],
			...['-metadata', 'title=How to read [error] x-decoder done: 5 frames, 7 decoder errors'],
			...['-metadata', 'artist=[fatal] packet corrupt'],
		],
		name: 'words.mp4',
		format: 'mp4',
	},
	'with two tracks of sound that have the names of programs': {
		args: [...twoSounds, '-metadata:s:a:0', 'language=deu', '-metadata:s:a:1', 'language=eng'],
		name: 'languages.mp4',
		format: 'mkv',
	},
	'with texts that the new one has, and with what programs write': {
		args: [
			...[...twoSounds, '-metadata', 'title=Ours', '-metadata', 'artist=Ada', '-metadata', 'comment=At the sea'],
			...['-metadata', 'date=1975-05-01', '-metadata', 'creation_time=2031-01-01T00:00:00Z'],
		],
		name: 'ours.mp4',
		format: 'mp4',
	},
	// Where nothing moves, and the header counts what is left out.
	'of which some frames have no content, in AVI': {
		args: [
			...['-f', 'lavfi', '-i', "testsrc=s=160x120:r=25:d=4,select='not(between(n,10,20))'", ...tone(440, 4)],
			...['-c:v', 'mpeg4', '-c:a', 'mp3', '-vsync', 'passthrough'],
		],
		name: 'still.avi',
		format: 'mp4',
	},
	'with texts that have names of their own in Matroska': {
		args: [
			...[...picture('160x90', 4), ...tone(440, 4), '-c:v', 'mpeg4', '-c:a', 'mp3'],
			...['-metadata', 'comment=At the sea', '-metadata', 'date=1975'],
		],
		name: 'sea.avi',
		format: 'mkv',
	},
	'with texts of Matroska': {
		args: [
			...[...picture('160x90', 4), ...tone(440, 4), ...h264, '-c:a', 'aac'],
			...['-metadata', 'SUMMARY=At the sea', '-metadata', 'DATE_RELEASED=1975', '-metadata', 'DIRECTOR=Ada'],
		],
		name: 'sea.mkv',
		format: 'mp4',
	},
	'with a title, in WMV': {
		args: [...picture('160x90', 4), ...tone(440, 4), '-c:v', 'wmv2', '-c:a', 'wmav2', '-metadata', 'title=Ours'],
		name: 'ours.wmv',
		format: 'mp4',
	},
	'with a title, in FLV': {
		args: [
			...[...picture('160x90', 4), ...tone(440, 4), '-c:v', 'flv', '-c:a', 'mp3', '-ar', '44100'],
			...['-metadata', 'title=Ours', '-flvflags', 'add_keyframe_index'],
		],
		name: 'ours.flv',
		format: 'mp4',
	},
	'of a camera, with names of programs that are not alike': {
		args: [
			...twoSounds,
			...['-metadata:s:v:0', 'handler_name=Core Media Video', '-metadata:s:a:0', 'handler_name=Core Media Audio'],
		],
		name: 'camera.mov',
		format: 'mp4',
	},
	'of NTSC in AVI': {
		args: ['-f', 'lavfi', '-i', 'testsrc=s=160x120:r=30000/1001:d=4', ...tone(440, 4), '-c:v', 'mpeg4', '-c:a', 'mp3'],
		name: 'good.avi',
		format: 'webm',
	},
	// What is written into a pipe, by a browser, or by a program that is ended, says no duration.
	'that says no duration, in Matroska': {
		args: [...long, ...h264, '-c:a', 'aac', '-live', '1'],
		name: 'live.mkv',
		format: 'mp4',
	},
	'that says no duration and has no sound': {
		args: [...picture('160x90', 4), ...h264, '-live', '1'],
		name: 'silence.mkv',
		format: 'mkv',
	},
	'that says no duration, of a browser': {
		args: [
			...picture('160x90', 4),
			...tone(440, 4),
			'-c:v',
			'libvpx',
			'-cpu-used',
			'8',
			'-c:a',
			'libopus',
			'-live',
			'1',
		],
		name: 'recording.webm',
		format: 'webm',
	},
	'that was written into a pipe as AVI, which says nonsense of its duration': {
		args: [...picture('160x120', 12), ...tone(440, 12), '-c:v', 'mpeg4', '-c:a', 'mp3', '-seekable', '0'],
		name: 'pipe.avi',
		format: 'mp4',
	},
	// Its tracks have durations of their own in MP4, and those of the whole file in Matroska.
	'of which the sound begins two seconds later and ends after the picture': {
		args: [...picture('160x90', 6), '-itsoffset', '2', ...tone(440, 6), ...h264, '-c:a', 'aac'],
		name: 'late.mp4',
		format: 'webm',
	},
	'of which the sound begins two seconds later, in Matroska': {
		args: [...picture('160x90', 6), '-itsoffset', '2', ...tone(440, 6), ...h264, '-c:a', 'aac'],
		name: 'late.mkv',
		format: 'mp4',
	},
	'of which the sound begins two seconds later, in Ogg': {
		args: [...picture('160x96', 4), '-itsoffset', '2', ...tone(440, 4), '-c:v', 'libtheora', '-c:a', 'libvorbis'],
		name: 'late.ogv',
		format: 'mp4',
	},
	'without sound, in Ogg': {
		args: [...picture('160x96', 6), '-c:v', 'libtheora'],
		name: 'mute.ogv',
		format: 'mp4',
	},
	'of which the picture begins two seconds later, in a transport stream': {
		args: ['-itsoffset', '2', ...picture('160x90', 4), ...tone(440, 6), ...h264, '-c:a', 'aac', '-f', 'mpegts'],
		name: 'dark.mts',
		format: 'webm',
		// Once in eight runs HandBrake leaves out the sound before the picture. That is noticed, and the original kept.
		repeats: 4,
	},
	// Encoders begin their sound with some that is not shown, and their pictures with a delay.
	'with sound and pictures that depend on later ones': {
		args: [
			...picture('160x90', 1),
			...tone(440, 1),
			'-c:v',
			'libx264',
			'-bf',
			'4',
			'-pix_fmt',
			'yuv420p',
			'-c:a',
			'aac',
		],
		name: 'delayed.mp4',
		format: 'mp4',
	},
	'with eight channels of sound': {
		args: [
			...[...picture('160x90', 2), '-f', 'lavfi', '-i', `aevalsrc=${'0|'.repeat(7)}sin(4000*t):c=7.1:d=2`],
			...[...h264, '-c:a', 'flac'],
		],
		name: 'eight.mkv',
		format: 'mp4',
	},
	// Which are a large part of an episode with subtitles in Chinese.
	'with fonts': {
		args: [
			...[...long, '-i', 'film.srt', '-map', '0', '-map', '1', '-map', '2', ...h264, '-c:a', 'aac'],
			...['-attach', 'large.ttf', '-metadata:s:t', 'mimetype=application/x-truetype-font'],
		],
		name: 'fonts.mkv',
		format: 'mkv',
	},
	'with subtitles and chapters': {
		args: [
			...picture('160x90', 3),
			'-i',
			'film.srt',
			'-i',
			'film.chapters',
			'-map',
			'0',
			'-map',
			'1',
			'-map_chapters',
			'2',
			...h264,
		],
		name: 'chapters.mkv',
		format: 'mkv',
	},
};

for (const [what, { args, name, format, repeats }] of Object.entries(deleted)) {
	test(`a film ${what} is deleted once it is converted`, async (t) => {
		await subtitles('film.srt');
		await subtitles(
			'film.chapters',
			';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle=A\n[CHAPTER]\nTIMEBASE=1/1\nSTART=1\nEND=3\ntitle=B\n',
		);
		await subtitles('large.ttf', 'font '.repeat(200_000));
		const { put, run } = await converted(t, name, format);
		await put(args);
		const { done, detail, names } = await run(repeats);
		t.deepEqual(detail.losses, []);
		t.is(detail.isOriginalDeleted, true);
		t.deepEqual(names, [done.outputPath]);
	});
}

test('a film of recordings of a camera that were joined, whose sound goes on longer than the pictures of each, is deleted once it is converted', async (t) => {
	const { home, put, run } = await converted(t, 'joined.mpg', 'mkv');
	await put([...picture('160x90', 3), ...tone(440, 3.2), '-c:v', 'mpeg2video', '-bf', '2', '-c:a', 'ac3', '-f', 'vob']);
	const at = path.join(home, 'joined.mpg');
	const recording = await readFile(at);
	await writeFile(at, Buffer.concat(Array.from({ length: 6 }, () => recording)));
	const { detail } = await run();
	t.deepEqual(detail.losses, []);
	t.is(detail.isOriginalDeleted, true);
});

for (const [what, name, args] of [
	['with sound', 'still.mp4', [...tone(440, 20), '-c:a', 'aac']],
	['without sound', 'still-mute.mp4', []],
] as const) {
	test(`a film ${what} whose picture stands still for long says its own duration once it is converted to mp4`, async (t) => {
		const { home, put, run } = await converted(t, name, 'mp4');
		const select = "select='lt(t,2)+between(t,9,10)+gt(t,19)'";
		await put([...picture('160x90', 20, 30), ...args, '-vf', select, '-vsync', 'vfr', ...h264]);
		const { done, detail } = await run();
		t.deepEqual(detail.losses, []);
		t.is(detail.isOriginalDeleted, true);
		const { seconds } = await probe(path.join(home, done.outputPath ?? ''));
		t.true(Math.abs(seconds - 20) < 0.5, `${seconds} s`);
	});
}

for (const [what, format, losses] of [
	['without transparency is deleted', 'yuv420p', []],
	[
		'with transparency is kept',
		'yuva420p',
		['data that no program here reads (additions to its pictures or subtitles)', 'transparency'],
	],
] as const) {
	test(`a recording of a browser, which says of each that it may be transparent, ${what} once it is converted`, async (t) => {
		const name = `${format}.webm`;
		const { home, put, run } = await converted(t, name, 'mp4');
		await put([
			...[...picture('160x90', 2), ...tone(440, 2), '-c:v', 'libvpx', '-cpu-used', '8', '-auto-alt-ref', '0'],
			...['-pix_fmt', format, '-c:a', 'libopus', '-metadata:s:v', 'alpha_mode=1'],
		]);
		// Of ffmpeg it has a tag as well, which ffprobe prints in its place.
		const at = path.join(home, name);
		const bytes = await readFile(at);
		bytes.write('alpha_mode', bytes.indexOf('ALPHA_MODE'), 'latin1');
		await writeFile(at, bytes);
		const { detail } = await run();
		t.deepEqual(detail.losses, [...losses]);
		t.is(detail.isOriginalDeleted, losses.length === 0);
	});
}

/** As who corrects a wrong shape without encoding again: the frames still say theirs. */
const said16to9 = ['-i', 'square.mp4', '-c', 'copy', '-aspect', '16:9'];

for (const [what, name, format, args, shape] of [
	['upright', 'turned.mp4', 'mp4', ['-metadata:s:v', 'rotate=90'], 9 / 16],
	['in Matroska', 'wide.mkv', 'mkv', [], 16 / 9],
	['in MP4 for WebM', 'wide.mp4', 'webm', [], 16 / 9],
] as const) {
	test(`a film ${what} whose file says another shape than its frames is shown in that shape once it is converted`, async (t) => {
		const { home, put, run } = await converted(t, name, format);
		await film('square.mp4', [...picture('720x480', 1), ...h264], path.join(home, 'x.mp4'));
		await rm(path.join(home, 'x.mp4'));
		await put([...said16to9, ...args]);
		const { done, detail } = await run();
		t.deepEqual(detail.losses, []);
		t.is(detail.isOriginalDeleted, true);
		const [pictures] = (await probe(path.join(home, done.outputPath ?? ''))).streams;
		const [width = 0, height = 0] = (pictures?.display_aspect_ratio ?? '').split(':').map(Number);
		t.true(Math.abs(width / height - shape) < 0.01, pictures?.display_aspect_ratio);
		// The film says nothing of its colours: by its height, once it is turned, it would have those of HD.
		t.is(pictures?.color_space, 'smpte170m');
	});
}

test('a film without sound that holds its last picture is not converted, and not called damaged', async (t) => {
	const { client, home, put, names } = await converted(t, 'held.mp4', 'mp4');
	await film('moving.mp4', [...picture('160x90', 2), ...h264], path.join(home, 'x.mp4'));
	await rm(path.join(home, 'x.mp4'));
	await put(['-i', 'moving.mp4', '-c', 'copy', '-bsf:v', 'setts=duration=if(eq(N\\,49)\\,12/TB\\,DURATION)']);
	const done = await convert(client, { filePath: 'held.mp4', outputFormat: 'mp4', deleteOriginal: true });
	t.is(done.status, 'failed');
	t.regex(
		done.error ?? '',
		/^The converted file would end after 2(?:\.\d)? s instead of 14 s: HandBrake does not hold the last/,
	);
	t.deepEqual(await names(), ['held.mp4']);
});

test('a film of which the beginning is trimmed is deleted once it is converted', async (t) => {
	const { home, put, run } = await converted(t, 'trimmed.mp4', 'mp4');
	await film('whole.mp4', [...long, ...h264, '-g', '50', '-c:a', 'aac'], path.join(home, 'x.mp4'));
	await put(['-ss', '1.3', '-i', 'whole.mp4', '-c', 'copy']);
	const { detail } = await run();
	t.deepEqual(detail.losses, []);
	t.is(detail.isOriginalDeleted, true);
});

const filmedAt = '2024-05-06T07:08:09.000000Z';

/** Upright, with handlers and tags as the recorders of phones write them. */
const ofPhone = (...tags: readonly string[]) => [
	...[...picture('160x90', 4, 30), ...tone(440, 4), ...h264, '-c:a', 'aac', '-metadata:s:v', 'rotate=90'],
	...['-metadata:s:v', 'handler_name=VideoHandle', '-metadata:s:a', 'handler_name=SoundHandle'],
	...[...tags, `creation_time=${filmedAt}`].flatMap((each) => ['-metadata', each]),
	...['-movflags', 'use_metadata_tags', '-brand', 'mp42'],
];

for (const format of ['mp4', 'mkv', 'webm']) {
	test(`a film of a phone with Android is deleted once it is converted to ${format}, which says when it was filmed`, async (t) => {
		const { home, put, run } = await converted(t, 'android.mp4', format);
		await put(ofPhone('com.android.version=14', 'com.android.capture.fps=30.0'));
		const { done, detail } = await run();
		t.deepEqual(detail.losses, []);
		t.is(detail.isOriginalDeleted, true);
		const { creationTimes } = await probe(path.join(home, done.outputPath ?? ''));
		t.deepEqual(creationTimes, [filmedAt, ...(format === 'mp4' ? [filmedAt, filmedAt] : [])]);
	});
}

const apple = (name: string, value: string) => `com.apple.quicktime.${name}=${value}`;
const ofIphone = ofPhone(
	...[apple('make', 'Apple'), apple('model', 'iPhone 12'), apple('software', '17.4')],
	...[apple('creationdate', '2024-05-05T09:08:09+0200'), apple('location.ISO6709', '+37.4-122.1+010/')],
);

test('a film of an iPhone with its place is deleted once it is converted to mp4, which says all of that', async (t) => {
	const { home, put, run } = await converted(t, 'iphone.mov', 'mp4');
	await put(ofIphone);
	const { done, detail } = await run();
	t.deepEqual(detail.losses, []);
	t.is(detail.isOriginalDeleted, true);
	const { tags, creationTimes, streams } = await probe(path.join(home, done.outputPath ?? ''));
	// That of its filming, also where it was sent since.
	t.is(creationTimes[0], '2024-05-05T07:08:09.000000Z');
	t.like(tags, {
		'com.apple.quicktime.make': 'Apple',
		'com.apple.quicktime.model': 'iPhone 12',
		'com.apple.quicktime.creationdate': '2024-05-05T09:08:09+0200',
		'com.apple.quicktime.location.ISO6709': '+37.4-122.1+010/',
	});
	t.is(streams[1]?.tags?.handler_name, 'Audio');
});

/** Has the track of data of a MOV say that it is what iPhones note at moments of a film. */
function withMoments(bytes: Buffer, ...names: readonly string[]): Buffer {
	const box = (name: string | Buffer, ...content: readonly Buffer[]) => {
		const inside = Buffer.concat(content);
		return Buffer.concat([number(8 + inside.length), Buffer.from(name), inside]);
	};
	const keys = names.map((name, n) =>
		box(number(n + 1), box('keyd', Buffer.from(`mdta${name}`)), box('dtyp', number(0))),
	);
	const moments = box('mebx', number(0), number(1), box('keys', ...keys));
	const at = bytes.lastIndexOf('gpmd') - 4;
	const length = bytes.readUInt32BE(at);
	for (const name of ['stsd', 'stbl', 'minf', 'mdia', 'trak', 'moov']) {
		const outer = bytes.lastIndexOf(name, at) - 4;
		bytes.writeUInt32BE(bytes.readUInt32BE(outer) + moments.length - length, outer);
	}
	return Buffer.concat([bytes.subarray(0, at), moments, bytes.subarray(at + length)]);
}

for (const [what, names, losses] of [
	['how it was held and what faces there were', ['video-orientation', 'detected-face', 'detected-face.bounds'], []],
	['where it was', ['video-orientation', 'location.ISO6709'], ['1 of 1 data tracks']],
] as const) {
	test(`a film of an iPhone that says at each moment ${what} is ${losses.length > 0 ? 'kept' : 'deleted'}`, async (t) => {
		const { home, put, run } = await converted(t, 'moments.mov', 'mp4');
		await subtitles('moments.bin', 'moments of it');
		await put([
			...[...picture('160x90', 4), ...tone(440, 4), '-f', 'data', '-i', 'moments.bin'],
			...['-map', '0', '-map', '1', '-map', '2', ...h264, '-c:a', 'aac', '-c:d', 'copy', '-tag:d', 'gpmd'],
		]);
		const at = path.join(home, 'moments.mov');
		await writeFile(at, withMoments(await readFile(at), ...names.map((name) => `com.apple.quicktime.${name}`)));
		const { detail } = await run();
		t.deepEqual(detail.losses, [...losses]);
		t.is(detail.isOriginalDeleted, losses.length === 0);
	});
}

test('a film with a place and a camera, as other phones write them, is deleted once it is converted to mp4', async (t) => {
	const { home, put, run } = await converted(t, 'place.mp4', 'mp4');
	const [place, ...camera] = ['location=+52.5200+013.4050/', 'make=Us', 'model=One'];
	await put([
		...[...picture('160x90', 4, 30), ...tone(440, 4), ...h264, '-c:a', 'aac', '-f', 'mov'],
		...[place, ...camera].flatMap((each = '') => ['-metadata', each]),
	]);
	const { done, detail } = await run();
	t.deepEqual(detail.losses, []);
	t.is(detail.isOriginalDeleted, true);
	const { tags } = await probe(path.join(home, done.outputPath ?? ''));
	t.like(tags, { location: '+52.5200+013.4050/', make: 'Us', model: 'One' });
});

test('the place and the camera of a film keep it where the new one can’t have them', async (t) => {
	const { put, run } = await converted(t, 'iphone.mov', 'mkv');
	await put(ofIphone);
	const { detail } = await run();
	t.deepEqual(detail.losses, ['the place where it was filmed', 'the camera']);
});

for (const place of ['bubblewrap', 'Landlock', 'no sandbox'] as const) {
	test(`films are converted to each format in ${place}`, async (t) => {
		const { alice, home } = await site(t, optionsFor(place));
		await film('sound.mp4', [...picture('160x90', 2), ...tone(440, 2), ...h264], path.join(home, 'film.mp4'));
		const codecs = { mp4: ['h264', 'aac'], mkv: ['h264', 'aac'], webm: ['vp9', 'opus'] };
		for (const [format, expected] of Object.entries(codecs)) {
			const { status, outputPath, error } = await convert(alice, { filePath: 'film.mp4', outputFormat: format });
			t.is(status, 'completed', error ?? '');
			t.deepEqual((await probe(path.join(home, outputPath ?? ''))).codecs, expected);
		}
	});
}
