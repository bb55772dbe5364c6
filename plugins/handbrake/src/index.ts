import path from 'node:path';
import { afterStart, definePlugin, type JobStarter, z } from '@stowage/plugin-api';
import { type Conversion, conversion } from './conversion.js';
import { convert } from './convert.js';
import { EncodedReceipts } from './EncodedReceipts.js';
import { HandBrake } from './HandBrake.js';
import { handbrakeRoutes } from './routes.js';
import { discardConversion } from './steps/discard.js';

/** A relative path would depend on the working directory of the server. */
const program = z.string().regex(/^(\/.+|[^/]+)$/, 'must be the name of a program on the PATH, or an absolute path');

const hours = z.int().min(1).max(1000);

/** `mostHours` is the former name of `maxHours`, and is still read. */
const options = z
	.strictObject({
		handbrake: program.default('HandBrakeCLI'),
		ffprobe: program.default('ffprobe'),
		bwrap: z.union([z.literal(false), program]).default('bwrap'),
		landlock: z.boolean().default(true),
		allowWithoutSandbox: z.boolean().default(false),
		concurrency: z.int().min(1).max(64).default(1),
		shortConversions: z.int().min(0).max(64).default(1),
		perUser: z.int().min(1).max(10_000).default(100),
		memoryMiB: z
			.int()
			.min(256)
			.max(1024 * 1024)
			.default(8192),
		maxHours: hours.optional(),
		mostHours: hours.optional(),
		hardwareEncoders: z.boolean().default(false),
	})
	.transform(({ mostHours = 48, maxHours = mostHours, ...others }) => ({ ...others, maxHours }));

/** Converts videos as jobs. */
export const plugin = definePlugin({
	name: '@stowage/handbrake',
	version: '0.1.0',
	options,
	needsHttp: false,
	start(server, options) {
		const { concurrency, shortConversions, perUser, memoryMiB, maxHours } = options;
		const log = server.logOf('@stowage/handbrake');
		const handbrake = new HandBrake(
			{
				program: options.handbrake,
				ffprobe: options.ffprobe,
				bwrap: options.bwrap,
				landlock: options.landlock,
				allowWithoutSandbox: options.allowWithoutSandbox,
				memoryBytes: memoryMiB * 1024 * 1024,
				mayUseHardware: options.hardwareEncoders,
			},
			log,
		);
		const dependencies = {
			files: server.files,
			handbrake,
			log,
			temporaryFolder: server.dataDir,
			timeLimitMs: maxHours * 3_600_000,
			takeSaved: (...call: Parameters<JobStarter<Conversion>['takeSaved']>) => conversions.takeSaved(...call),
			receipts: new EncodedReceipts(path.join(server.dataDir, 'conversions'), log),
		};
		const conversions: JobStarter<Conversion> = server.jobs.define({
			name: 'convert',
			needs: {
				capability: 'handbrake',
				lack: 'Videos can’t be converted on this server right now. This goes on once they can.',
			},
			input: conversion,
			onRestart: 'resume',
			concurrency,
			short: { places: shortConversions, seconds: 300 },
			runningPerUser: Math.max(1, concurrency - 1),
			perUser,
			discard: (saved, owner) => discardConversion(saved, owner, dependencies),
			run: (job) => convert(job, dependencies),
		});
		server.providers.capability.register('handbrake', () => {
			// A page polls this, so an installation is noticed by the next request.
			void handbrake.findInBackground();
			return handbrake.isAvailable;
		});
		server.route(handbrakeRoutes(server, handbrake, conversions));
		afterStart(server, () => {
			void handbrake.findInBackground();
			void dependencies.receipts.sweep(Date.now());
		});
	},
});
