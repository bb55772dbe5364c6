import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import Libsql from 'libsql';

/** Holds the write lock of an SQLite file for a while, as another program could. */
const [path = '', milliseconds = '0'] = process.argv.slice(2);
const connection = new Libsql(path);
connection.exec('BEGIN IMMEDIATE');
writeSync(1, 'locked\n');
await wait(Number(milliseconds));
connection.exec('COMMIT');
connection.close();
