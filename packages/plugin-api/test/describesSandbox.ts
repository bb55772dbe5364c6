import { findSandbox } from '../src/programs/sandbox/findSandbox.js';

// Says which sandbox a server has in this environment.
process.stdout.write((await findSandbox())?.description ?? 'none');
