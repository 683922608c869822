// The service as a bank runs it, payments only, in a test environment: sign-in requires a one-time
// code.
import { Program } from './program.js';

export class Service extends Program {
  static async start() {
    const service = new Service();
    const env = { CORRIDOR_HTTP__LISTEN: '127.0.0.1:0', CORRIDOR_WALLETS__ENABLED: 'false', RUST_LOG: 'info' };
    await service.begin(['serve'], env);
    try {
      const lines = await service.lines(/"message":"serving"/, 'stderr');
      service.url = JSON.parse(lines.at(-1)).url;
    } catch (fault) {
      await service.stop();
      throw new Error(`the service did not start: ${fault.message}\n${service.logTail()}`);
    }
    return service;
  }
}
